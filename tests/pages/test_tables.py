"""Tables fold where there is no room for their columns: the markup says what each value is."""

from pages import tables

_TABLE = """<thead><tr><th scope="col">{head}</th><th scope="col" class="num">Paid <b>out</b></th><th></th></tr></thead>
<tbody>
<tr id="one"><th scope="row">Ada</th><td class="num">1</td><td><time>now</time></td></tr>
<tr><td colspan="2">Nothing</td><td>x</td></tr>
</tbody>"""


def test_each_cell_says_its_columns_head_and_is_still_a_cell():
    found = tables.folded(_TABLE.format(head="Who"))

    assert found == (
        '<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Who</th>'
        '<th scope="col" class="num" role="columnheader">Paid <b>out</b></th><th role="columnheader"></th>'
        "</tr></thead>\n"
        '<tbody role="rowgroup">\n'
        '<tr id="one" role="row"><th scope="row" role="rowheader">Ada</th>'
        '<td class="num" role="cell" data-l="Paid out">1</td><td role="cell"><time>now</time></td></tr>\n'
        '<tr role="row"><td colspan="2" role="cell">Nothing</td><td role="cell">x</td></tr>\n'
        "</tbody>"
    )


def test_what_a_head_says_stays_in_its_label():
    found = tables.folded('<thead><tr><th>&#34;&lt;b&gt; "quoted"</th></tr></thead><tbody><tr><td>1</td></tr></tbody>')

    assert 'data-l="&#34;&lt;b&gt; &#34;quoted&#34;">1<' in found


def test_a_head_that_nobody_sees_is_no_label():
    found = tables.folded(
        '<thead><tr><th><span class="unseen">Act</span></th><th>Who<span class="unseen"> it is</span></th></tr></thead>'
        "<tbody><tr><td>Pause</td><td>Ada</td></tr></tbody>"
    )

    assert '<td role="cell">Pause</td><td role="cell" data-l="Who">Ada</td>' in found


def test_without_heads_there_are_no_labels():
    assert tables.folded("<tbody><tr><td>1</td></tr></tbody>") == (
        '<tbody role="rowgroup"><tr role="row"><td role="cell">1</td></tr></tbody>'
    )


def test_rows_without_a_body_get_one():
    folded = tables.folded("<thead><tr><th>Who</th></tr></thead>\n<tr><td>Ada</td></tr>")

    assert folded.endswith('<tbody role="rowgroup">\n<tr role="row"><td role="cell" data-l="Who">Ada</td></tr></tbody>')
