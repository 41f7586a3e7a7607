"""The rails that money leaves by, one file each, behind one interface (`base.Rail`)."""
