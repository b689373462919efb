import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The Java client: see ../README.md for the two calls and the file formats. */
public final class Client {
    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "write" -> write(args[1], args[2], args[3], Path.of(args[4]), Path.of(args[5]));
            case "read" -> read(args[1], args[2], Integer.parseInt(args[3]), Path.of(args[4]));
            default -> System.exit(2);
        }
    }

    private static byte[] take(DataInputStream in) throws Exception {
        int length = in.readInt();
        return length < 0 ? null : in.readNBytes(length);
    }

    private static void write(String bootstrap, String topic, String codec, Path source, Path target) throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("compression.type", codec);
        p.put("linger.ms", "5");
        List<Future<RecordMetadata>> acks = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(source)));
             KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer())) {
            while (true) {
                int partition;
                try {
                    partition = in.readInt();
                } catch (EOFException end) {
                    break;
                }
                byte[] key = take(in);
                byte[] value = take(in);
                List<Header> headers = new ArrayList<>();
                for (int n = in.readInt(); n > 0; n--) {
                    String name = new String(take(in), "UTF-8");
                    headers.add(new RecordHeader(name, take(in)));
                }
                acks.add(producer.send(new ProducerRecord<>(topic, partition, key, value, headers)));
            }
            producer.flush();
        }
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(target))) {
            for (Future<RecordMetadata> ack : acks) {
                RecordMetadata m = ack.get();
                out.print(m.partition() + " " + m.offset() + "\n");
            }
        }
    }

    private static void put(DataOutputStream out, byte[] content) throws Exception {
        if (content == null) {
            out.writeInt(-1);
        } else {
            out.writeInt(content.length);
            out.write(content);
        }
    }

    private static void read(String bootstrap, String topic, int partitions, Path target) throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("enable.auto.commit", "false");
        p.put("auto.offset.reset", "none");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
             PrintWriter lines = new PrintWriter(Files.newBufferedWriter(target))) {
            for (int partition = 0; partition < partitions; partition++) {
                TopicPartition tp = new TopicPartition(topic, partition);
                consumer.assign(List.of(tp));
                Map<TopicPartition, Long> start = consumer.beginningOffsets(List.of(tp));
                long end = consumer.endOffsets(List.of(tp)).get(tp);
                consumer.seek(tp, start.get(tp));
                MessageDigest sha = MessageDigest.getInstance("SHA-256");
                DataOutputStream digest = new DataOutputStream(new BufferedOutputStream(new DigestOutputStream(OutputStream.nullOutputStream(), sha), 1 << 16));
                long count = 0;
                while (consumer.position(tp) < end) {
                    for (ConsumerRecord<byte[], byte[]> r : consumer.poll(Duration.ofSeconds(5))) {
                        digest.writeInt(r.partition());
                        digest.writeLong(r.offset());
                        put(digest, r.key());
                        put(digest, r.value());
                        Header[] headers = r.headers().toArray();
                        digest.writeInt(headers.length);
                        for (Header h : headers) {
                            put(digest, h.key().getBytes("UTF-8"));
                            put(digest, h.value());
                        }
                        count++;
                    }
                }
                digest.flush();
                lines.print(partition + " " + count + " " + HexFormat.of().formatHex(sha.digest()) + "\n");
            }
        }
    }
}
