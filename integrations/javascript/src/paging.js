/** Yield every item of a list that comes in pages; `page` asks for the one that begins at a cursor. */
export async function* everyItem(page) {
  let cursor;
  do {
    const found = await page(cursor);
    yield* found.items;
    cursor = found.nextCursor;
  } while (cursor !== null && cursor !== undefined);
}
