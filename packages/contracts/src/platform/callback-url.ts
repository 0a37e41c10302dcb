const MAX_CHARACTERS = 2048

/** Where clouds keep the credentials of their machines: link-local addresses and the names for them. */
const METADATA =
  /^(?:169\.254\.\d+\.\d+|\[fe[89ab][\da-f]:.*\]|\[fd00:ec2::254\]|\[::ffff:a9fe:.*\]|metadata\.google\.internal\.?|instance-data\.?)$/

/** Whether a vendor may be told to post there: http or https, nobody's password in it, no metadata service. */
export const isCallbackUrl = (text: string): boolean => {
  const url = text.length <= MAX_CHARACTERS && /^https?:\/\//i.test(text) ? URL.parse(text) : null
  return url !== null && url.username === '' && url.password === '' && !METADATA.test(url.hostname)
}
