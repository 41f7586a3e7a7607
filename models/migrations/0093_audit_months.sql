select partition_by_month('audit_entry');
