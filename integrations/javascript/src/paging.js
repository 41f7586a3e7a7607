/** Yield every item of a paged list; `page(cursor)` requests the page that begins at a cursor. */
export async function* everyItem(page) {
  let cursor;
  do {
    const { items, nextCursor } = await page(cursor);
    yield* items;
    cursor = nextCursor;
  } while (cursor !== null && cursor !== undefined);
}
