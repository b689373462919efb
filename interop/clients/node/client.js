// kafkajs: see ../README.md for the calls and the file formats. It only writes here.
'use strict'
const fs = require('fs')
const { Kafka, CompressionTypes, CompressionCodecs, logLevel } = require('kafkajs')

// kafkajs brings gzip; the other codecs are plugged in, in the framing the Java client uses (xerial blocks for snappy).
const snappy = require('snappyjs')
CompressionCodecs[CompressionTypes.Snappy] = () => ({
  async compress(encoder) {
    const block = Buffer.from(snappy.compress(encoder.buffer))
    const head = Buffer.alloc(20)
    Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]).copy(head)
    head.writeInt32BE(1, 8)
    head.writeInt32BE(1, 12)
    head.writeInt32BE(block.length, 16)
    return Buffer.concat([head, block])
  },
  async decompress() { throw new Error('not used') },
})
delete globalThis.fetch // its WebAssembly loader would fetch a file path; without fetch it reads the file
const LZ4 = require('kafkajs-lz4')
CompressionCodecs[CompressionTypes.LZ4] = new LZ4().codec
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  async compress(encoder) {
    const zstd = await new Promise((resolve) => require('zstd-codec').ZstdCodec.run((z) => resolve(new z.Simple())))
    return Buffer.from(zstd.compress(encoder.buffer, 3))
  },
  async decompress() { throw new Error('not used') },
})
const codecs = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy, lz4: CompressionTypes.LZ4, zstd: CompressionTypes.ZSTD }

function records(path) {
  const data = fs.readFileSync(path)
  const out = []
  let at = 0
  const int = () => { const v = data.readInt32BE(at); at += 4; return v }
  const bytes = () => { const n = int(); if (n < 0) return null; const v = data.subarray(at, at + n); at += n; return v }
  while (at < data.length) {
    const record = { partition: int(), key: bytes(), value: bytes(), headers: {} }
    for (let n = int(); n > 0; n--) {
      const name = bytes().toString()
      const content = bytes()
      record.headers[name] = record.headers[name] === undefined ? content : [].concat(record.headers[name], content)
    }
    out.push(record)
  }
  return out
}

async function write(bootstrap, topic, codec, source, target) {
  const all = records(source)
  const kafka = new Kafka({ brokers: bootstrap.split(','), clientId: 'weir-interop', logLevel: logLevel.ERROR })
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  const acks = new Array(all.length)
  const step = 2000
  for (let from = 0; from < all.length; from += step) {
    const messages = all.slice(from, from + step)
    const answers = await producer.send({ topic, acks: -1, compression: codecs[codec], messages })
    // One batch per partition and send: offsets count up from the batch's base in the order given.
    const next = new Map(answers.map((a) => [a.partition, BigInt(a.baseOffset)]))
    messages.forEach((m, i) => {
      const offset = next.get(m.partition)
      acks[from + i] = `${m.partition} ${offset}\n`
      next.set(m.partition, offset + 1n)
    })
  }
  await producer.disconnect()
  fs.writeFileSync(target, acks.join(''))
}

const [call, ...args] = process.argv.slice(2)
if (call !== 'write') { console.error('kafkajs only writes here'); process.exit(2) }
write(...args).catch((error) => { console.error(error); process.exit(1) })
