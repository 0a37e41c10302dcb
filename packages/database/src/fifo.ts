/** A queue whose head is taken in constant time, however long it is. */
export type Fifo<Item> = {
  push: (item: Item) => void
  shift: () => Item | undefined
  readonly first: Item | undefined
  readonly size: number
}

const COMPACT_AFTER = 1024

export const fifo = <Item>(initial: Item[] = []): Fifo<Item> => {
  let items: (Item | undefined)[] = initial
  let head = 0
  return {
    push: (item) => {
      items.push(item)
    },
    shift: () => {
      if (head === items.length) return undefined
      const item = items[head]
      items[head] = undefined
      head += 1
      if (head >= COMPACT_AFTER && head * 2 >= items.length) {
        items = items.slice(head)
        head = 0
      }
      return item
    },
    get first() {
      return items[head]
    },
    get size() {
      return items.length - head
    },
  }
}
