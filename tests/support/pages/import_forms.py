"""The forms of a new import: uploading a file, and the hidden fields that lead on."""

import html
import re

NEW = "/dashboard/imports/new"


def upload_file(visitor, brand, text, **fields):
    """Upload a file into the brand's last program and return the answer."""
    raw = text if isinstance(text, bytes) else text.encode()
    return visitor.upload(NEW, {"program": str(brand.programs[-1])} | fields, raw, "past.csv")


def match_fields(answer):
    """Return the fields of the form that matches columns, as they are filled in."""
    form = next(form for form in re.findall("<form.*?</form>", answer.text, re.DOTALL) if 'name="matched"' in form)
    fields = {
        name: html.unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form)
    }
    for name, options in re.findall(r'<select id="(col-\w+)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'value="([^"]*)" selected', options)
        fields[name] = html.unescape(chosen[1]) if chosen else ""
    fields["theirs"] = [html.unescape(word) for word in re.findall(r'name="theirs" value="([^"]*)"', form)]
    fields["ours"] = [
        (re.search(r'value="([^"]*)" selected', options) or ["", ""])[1]
        for options in re.findall(r'name="ours">(.*?)</select>', form, re.DOTALL)
    ]
    return fields


def preview_fields(answer):
    """Return the fields of the form below a preview, several of one name as a list."""
    form = next(form for form in re.findall("<form.*?</form>", answer.text, re.DOTALL) if 'name="packed"' in form)
    fields: dict = {}
    for tag in re.findall("<input[^>]*>", form):
        attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        if attributes["type"] == "hidden" or " checked" in tag:
            fields.setdefault(attributes["name"], []).append(html.unescape(attributes["value"]))
    return {name: values if len(values) > 1 else values[0] for name, values in fields.items()}
