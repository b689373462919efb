"""confluent-kafka (librdkafka): see ../README.md for the two calls and the file formats."""
import hashlib
import struct
import sys

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition


def take(data, at):
    (length,) = struct.unpack_from(">i", data, at)
    at += 4
    if length < 0:
        return None, at
    return data[at : at + length], at + length


def write(bootstrap, topic, codec, source, target):
    data = open(source, "rb").read()
    producer = Producer({
        "bootstrap.servers": bootstrap, "compression.type": codec, "enable.idempotence": True, "linger.ms": 5,
        "queue.buffering.max.messages": 200000,
    })
    acks, errors = [], []

    def delivered(index):
        def report(error, message):
            if error is not None:
                errors.append(error)
            else:
                acks[index] = (message.partition(), message.offset())
        return report

    at = 0
    while at < len(data):
        (partition,) = struct.unpack_from(">i", data, at)
        key, at = take(data, at + 4)
        value, at = take(data, at)
        (count,) = struct.unpack_from(">i", data, at)
        at += 4
        headers = []
        for _ in range(count):
            name, at = take(data, at)
            content, at = take(data, at)
            headers.append((name.decode(), content))
        acks.append(None)
        while True:
            try:
                producer.produce(topic, key=key, value=value, headers=headers, partition=partition, on_delivery=delivered(len(acks) - 1))
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    producer.flush(120)
    if errors or None in acks:
        sys.exit(f"{len(errors)} errors, first {errors[:1]}, {acks.count(None)} unacknowledged")
    with open(target, "w") as out:
        out.writelines(f"{partition} {offset}\n" for partition, offset in acks)


def put(digest, content):
    if content is None:
        digest.update(struct.pack(">i", -1))
    else:
        digest.update(struct.pack(">i", len(content)) + content)


def read(bootstrap, topic, partitions, target):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False, "auto.offset.reset": "error"})
    with open(target, "w") as out:
        for partition in range(int(partitions)):
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=20)
            digest, count, position = hashlib.sha256(), 0, low
            if position < high:
                consumer.assign([TopicPartition(topic, partition, low)])
            while position < high:
                for message in consumer.consume(10000, timeout=0.2):
                    if message.error():
                        raise KafkaException(message.error())
                    digest.update(struct.pack(">iq", partition, message.offset()))
                    put(digest, message.key())
                    put(digest, message.value())
                    headers = message.headers() or []
                    digest.update(struct.pack(">i", len(headers)))
                    for name, content in headers:
                        put(digest, name.encode())
                        put(digest, content)
                    count += 1
                    position = message.offset() + 1
            out.write(f"{partition} {count} {digest.hexdigest()}\n")
    consumer.close()


{"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
