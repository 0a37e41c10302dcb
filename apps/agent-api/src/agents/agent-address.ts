import { BlockList, isIP } from 'node:net'

/** Whether agents may live on this machine or in private networks. */
export type AddressPolicy = { allowPrivate: boolean }

type Range = [address: string, prefix: number]

const blockList = (ranges: readonly Range[]): BlockList => {
  const list = new BlockList()
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return list
}

/** Nowhere an agent can be: "this" network, link-local with the metadata services, multicast, and IPv4 in disguise. */
const NEVER = blockList([
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['192.0.0.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  ['fe80::', 10],
  ['fec0::', 10],
  ['fd00:ec2::', 32],
  ['fd20:ce::254', 128],
  ['ff00::', 8],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
])

/** Loopback, private, shared and benchmarking ranges. */
const PRIVATE = blockList([
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['198.18.0.0', 15],
  ['::1', 128],
  ['fc00::', 7],
])

const MAPPED = /^::(?:ffff:(?:0:)?)?(\d+\.\d+\.\d+\.\d+)$/i

/** Whether no agent may be called at an address; IPv4 addresses inside IPv6 ones count as what they are. */
export const isRefusedAddress = (address: string, policy: AddressPolicy): boolean => {
  const plain = address.split('%', 1)[0]!
  const bare = MAPPED.exec(plain)?.[1] ?? plain
  const version = isIP(bare)
  if (version === 0) return true
  const family = version === 6 ? 'ipv6' : 'ipv4'
  return NEVER.check(bare, family) || (!policy.allowPrivate && PRIVATE.check(bare, family))
}
