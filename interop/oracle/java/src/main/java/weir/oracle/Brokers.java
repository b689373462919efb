package weir.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Time;

/** Real Kafka brokers in this process: one node each, broker and controller in one, on free loopback ports. */
final class Brokers implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<String, KafkaRaftServer> running = new ConcurrentHashMap<>();

    /** Request {"dir", "clusterId", "config": {...}}, the directory new or formatted; response {"bootstrap"}. */
    byte[] start(byte[] payload) throws Exception {
        JsonNode ask = JSON.readTree(payload);
        Path dir = Path.of(ask.get("dir").asText());
        Files.createDirectories(dir);
        int port = freePort();
        int controllerPort = freePort();
        Properties props = new Properties();
        props.put("process.roles", "broker,controller");
        props.put("node.id", "1");
        props.put("controller.quorum.voters", "1@127.0.0.1:" + controllerPort);
        props.put("listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort);
        props.put("advertised.listeners", "PLAINTEXT://127.0.0.1:" + port);
        props.put("controller.listener.names", "CONTROLLER");
        props.put("log.dirs", dir.resolve("data").toString());
        ask.path("config").fields().forEachRemaining(e -> props.put(e.getKey(), e.getValue().asText()));
        Path file = dir.resolve("server.properties");
        try (var w = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
            props.store(w, null);
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        String[] format = {"format", "--ignore-formatted", "-t", ask.path("clusterId").asText("4L6g3nShT-eMCtK--X86sw"), "-c", file.toString()};
        int code = StorageTool.execute(format, new PrintStream(said, true, StandardCharsets.UTF_8));
        if (code != 0) {
            throw new IOException("format failed: " + said.toString(StandardCharsets.UTF_8));
        }
        KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(props, false), Time.SYSTEM);
        server.startup();
        String bootstrap = "127.0.0.1:" + port;
        running.put(bootstrap, server);
        return JSON.writeValueAsBytes(JSON.createObjectNode().put("bootstrap", bootstrap).put("dataDir", dir.resolve("data").toString()));
    }

    byte[] stop(byte[] payload) throws IOException {
        String bootstrap = JSON.readTree(payload).get("bootstrap").asText();
        KafkaRaftServer server = running.remove(bootstrap);
        if (server == null) {
            throw new IOException("no broker at " + bootstrap);
        }
        server.shutdown();
        server.awaitShutdown();
        return "{}".getBytes(StandardCharsets.UTF_8);
    }

    private static int freePort() throws IOException {
        try (ServerSocket s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return s.getLocalPort();
        }
    }

    @Override
    public void close() {
        running.values().forEach(KafkaRaftServer::shutdown);
    }
}
