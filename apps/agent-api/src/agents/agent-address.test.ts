import { expect, test } from 'vitest'
import { isRefusedAddress } from './agent-address.ts'

const NEVER = [
  '169.254.169.254',
  '169.254.0.1',
  '0.0.0.0',
  '0.1.2.3',
  '100.100.100.200',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  'fd20:ce::254',
  'ff02::1',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  'localhost',
  '',
  '1.2.3',
]
const PRIVATE = [
  '127.0.0.1',
  '127.9.9.9',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '198.18.0.1',
  '::1',
  'fc00::1',
  'fd12:3456::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
]
const PUBLIC = ['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8']

test.each(NEVER)('%s is never an agent', (address) => {
  expect(isRefusedAddress(address, { allowPrivate: true })).toBe(true)
})

test.each(PRIVATE)('%s is an agent only where that is allowed', (address) => {
  expect([true, false].map((allowPrivate) => isRefusedAddress(address, { allowPrivate }))).toEqual([false, true])
})

test.each(PUBLIC)('%s may be an agent', (address) => {
  expect(isRefusedAddress(address, { allowPrivate: false })).toBe(false)
})
