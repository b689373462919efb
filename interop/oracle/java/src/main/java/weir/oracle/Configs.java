package weir.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.DynamicConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.storage.internals.log.LogConfig;

/** Kafka's configuration tables and its checks of values. */
final class Configs {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Configs() {
    }

    static byte[] tables() throws IOException {
        ObjectNode out = JSON.createObjectNode();
        ObjectNode topic = out.putObject("topic");
        table(LogConfig.configKeys(), topic);
        ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS.forEach((name, list) -> {
            if (topic.has(name)) {
                ArrayNode to = ((ObjectNode) topic.get(name)).putArray("brokerSynonyms");
                for (ConfigSynonym s : list) {
                    to.add(s.name());
                }
            }
        });
        ObjectNode broker = out.putObject("broker");
        table(AbstractKafkaConfig.CONFIG_DEF.configKeys(), broker);
        DynamicConfig.Broker.configKeys().forEach((name, key) -> {
            if (!broker.has(name)) {
                one(key, broker.putObject(name)).put("dynamicOnly", true);
            }
        });
        DynamicBrokerConfig.dynamicConfigUpdateModes().forEach((name, mode) -> {
            if (broker.has(name)) {
                ((ObjectNode) broker.get(name)).put("updateMode", mode);
            }
        });
        broker.fieldNames().forEachRemaining(name -> {
            ArrayNode to = ((ObjectNode) broker.get(name)).putArray("synonyms");
            DynamicBrokerConfig.brokerConfigSynonyms(name, true).forEach(to::add);
        });
        table(GroupConfig.CONFIG_DEF.configKeys(), out.putObject("group"));
        return JSON.writeValueAsBytes(out);
    }

    private static void table(Map<String, ConfigDef.ConfigKey> keys, ObjectNode to) {
        new TreeMap<>(keys).forEach((name, key) -> one(key, to.putObject(name)));
    }

    private static ObjectNode one(ConfigDef.ConfigKey key, ObjectNode to) {
        to.put("type", key.type.name()).put("importance", key.importance.name()).put("internal", key.internalConfig)
            .put("hasDefault", key.hasDefault());
        if (key.hasDefault()) {
            to.put("default", ConfigDef.convertToString(key.defaultValue, key.type));
        }
        if (key.validator != null) {
            to.put("validator", key.validator.toString());
        }
        return to;
    }

    /** Checks a set of overrides: {"kind": "topic"|"broker"|"broker-default"|"group", "config": {...}}; answers {} or the error. */
    static byte[] check(byte[] payload) throws IOException {
        JsonNode ask = JSON.readTree(payload);
        Map<String, String> config = new HashMap<>();
        ask.path("config").fields().forEachRemaining(e -> config.put(e.getKey(), e.getValue().isNull() ? null : e.getValue().asText()));
        Properties props = new Properties();
        config.forEach((k, v) -> {
            if (v != null) {
                props.put(k, v);
            }
        });
        ObjectNode answer = JSON.createObjectNode();
        try {
            switch (ask.path("kind").asText()) {
                case "topic" -> LogConfig.validate(config);
                case "broker" -> DynamicBrokerConfig.validateConfigs(props, props, true);
                case "broker-default" -> DynamicBrokerConfig.validateConfigs(props, props, false);
                case "group" -> GroupConfig.CONFIG_DEF.parse(config);
                default -> throw new IllegalStateException("kind");
            }
        } catch (Exception e) {
            answer.put("errorClass", e.getClass().getSimpleName()).put("errorMessage", e.getMessage());
        }
        return JSON.writeValueAsBytes(answer);
    }
}
