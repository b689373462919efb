package weir.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.storage.internals.log.BatchMetadata;
import org.apache.kafka.storage.internals.log.EpochEntry;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** Opens a partition directory as a starting broker does and, if asked, applies retention to it. */
final class Logs {
    private static final ObjectMapper JSON = new ObjectMapper();

    static UnifiedLog create(File dir, LogConfig config, long logStart, long recoveryPoint, Time clock, boolean clean, int expirationMs,
        NoScheduler scheduler) throws IOException {
        return UnifiedLog.create(dir, config, logStart, recoveryPoint, scheduler, new BrokerTopicStats(false), clock,
            900_000, new ProducerStateManagerConfig(expirationMs, false), 600_000, new LogDirFailureChannel(1), clean, Optional.empty());
    }

    byte[] open(byte[] payload) throws IOException {
        JsonNode ask = JSON.readTree(payload);
        ObjectNode answer = JSON.createObjectNode();
        Map<String, String> config = new HashMap<>();
        ask.path("config").fields().forEachRemaining(e -> config.put(e.getKey(), e.getValue().asText()));
        NoScheduler scheduler = new NoScheduler();
        UnifiedLog log;
        try {
            log = create(new File(ask.get("dir").asText()), new LogConfig(config), ask.path("logStartOffset").asLong(),
                ask.path("recoveryPoint").asLong(), new Clock(ask.path("now").asLong()), ask.path("clean").asBoolean(),
                ask.path("producerExpirationMs").asInt(86_400_000), scheduler);
        } catch (Exception e) {
            answer.put("errorClass", e.getClass().getSimpleName()).put("errorCode", Errors.forException(e).code())
                .put("errorMessage", e.getMessage());
            return JSON.writeValueAsBytes(answer);
        }
        try {
            describe(log, answer.putObject("opened"));
            if (ask.has("highWatermark")) {
                log.updateHighWatermark(ask.get("highWatermark").asLong());
            }
            if (ask.has("deleteRecordsTo")) {
                log.maybeIncrementLogStartOffset(ask.get("deleteRecordsTo").asLong(), LogStartOffsetIncrementReason.ClientRecordDeletion);
            }
            if (ask.path("retain").asBoolean()) {
                answer.put("deleted", log.deleteOldSegments());
                describe(log, answer.putObject("retained"));
            }
        } catch (Exception e) {
            answer.put("errorClass", e.getClass().getSimpleName()).put("errorCode", Errors.forException(e).code())
                .put("errorMessage", e.getMessage());
        } finally {
            if (ask.path("close").asBoolean()) {
                log.close();
            } else {
                log.closeQuietly();
            }
            scheduler.delete();
        }
        return JSON.writeValueAsBytes(answer);
    }

    private static void describe(UnifiedLog log, ObjectNode to) throws IOException {
        to.put("logStartOffset", log.logStartOffset()).put("logEndOffset", log.logEndOffset())
            .put("recoveryPoint", log.recoveryPoint()).put("highWatermark", log.highWatermark()).put("size", log.size());
        ArrayNode segments = to.putArray("segments");
        for (LogSegment s : log.logSegments()) {
            segments.addObject().put("base", s.baseOffset()).put("next", s.readNextOffset()).put("size", s.size())
                .put("largestTimestamp", s.largestTimestamp()).put("recordTimestamp", s.largestRecordTimestamp().orElse(-1));
        }
        ArrayNode epochs = to.putArray("epochs");
        for (EpochEntry e : log.leaderEpochCache().epochEntries()) {
            epochs.addObject().put("epoch", e.epoch()).put("start", e.startOffset());
        }
        ArrayNode producers = to.putArray("producers");
        for (ProducerStateEntry e : new TreeMap<>(log.producerStateManager().activeProducers()).values()) {
            ObjectNode p = producers.addObject().put("id", e.producerId()).put("epoch", e.producerEpoch())
                .put("coordinatorEpoch", e.coordinatorEpoch()).put("lastTimestamp", e.lastTimestamp())
                .put("txnFirstOffset", e.currentTxnFirstOffset().orElse(-1));
            ArrayNode batches = p.putArray("batches");
            for (BatchMetadata b : e.batchMetadata()) {
                batches.addObject().put("firstSeq", b.firstSeq()).put("lastSeq", b.lastSeq()).put("firstOffset", b.firstOffset())
                    .put("lastOffset", b.lastOffset()).put("timestamp", b.timestamp());
            }
        }
    }
}
