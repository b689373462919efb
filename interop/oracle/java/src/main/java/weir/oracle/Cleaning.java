package weir.oracle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.storage.internals.log.Cleaner;
import org.apache.kafka.storage.internals.log.CleanerStats;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogToClean;
import org.apache.kafka.storage.internals.log.PackagePrivate;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.utils.Throttler;

/** One round of Kafka's cleaner over a partition directory that was closed cleanly, at a given clock. */
final class Cleaning {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Throttler throttler = new Throttler(Double.MAX_VALUE, 300, "cleaner-io", "bytes", Time.SYSTEM);

    byte[] run(byte[] payload) throws Exception {
        JsonNode ask = JSON.readTree(payload);
        ObjectNode answer = JSON.createObjectNode();
        Map<String, String> config = new HashMap<>();
        ask.path("config").fields().forEachRemaining(e -> config.put(e.getKey(), e.getValue().asText()));
        NoScheduler scheduler = new NoScheduler();
        Clock clock = new Clock(ask.get("now").asLong());
        UnifiedLog log = Logs.create(new File(ask.get("dir").asText()), new LogConfig(config), ask.path("logStartOffset").asLong(),
            ask.path("recoveryPoint").asLong(), clock, true, Integer.MAX_VALUE, scheduler);
        try {
            log.updateHighWatermark(ask.get("highWatermark").asLong());
            round(log, ask, clock, answer);
        } catch (Exception e) {
            answer.put("errorClass", e.getClass().getSimpleName()).put("errorMessage", String.valueOf(e.getMessage()));
        } finally {
            log.close();
            scheduler.delete();
        }
        return JSON.writeValueAsBytes(answer);
    }

    private void round(UnifiedLog log, JsonNode ask, Clock clock, ObjectNode answer) throws Exception {
        Optional<Long> checkpoint = ask.path("checkpoint").asLong() < 0 ? Optional.empty() : Optional.of(ask.get("checkpoint").asLong());
        PackagePrivate.ToClean range = PackagePrivate.cleanableOffsets(log, checkpoint, clock.milliseconds());
        LogToClean work = new LogToClean(log, range.from(), range.to(), range.overdueMs() > 0);
        answer.put("lastStableOffset", log.lastStableOffset()).put("from", work.firstDirtyOffset()).put("to", work.firstUncleanableOffset())
            .put("reset", range.reset()).put("overdueMs", range.overdueMs()).put("cleanBytes", work.cleanBytes())
            .put("dirtyBytes", work.cleanableBytes());
        double least = log.config().minCleanableRatio;
        boolean due = work.totalBytes() > 0 && (range.overdueMs() > 0 && work.cleanableBytes() > 0 || work.cleanableRatio() > least);
        answer.put("due", due);
        if (!due) {
            return;
        }
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(ask.get("mapBytes").asInt()), ask.get("ioBufferBytes").asInt(), 1 << 20,
            ask.get("loadFactor").asDouble(), throttler, clock, partition -> { });
        Map.Entry<Long, CleanerStats> done = cleaner.doClean(work, clock.milliseconds());
        CleanerStats stats = done.getValue();
        answer.put("end", done.getKey()).put("messagesRead", stats.messagesRead()).put("messagesWritten", stats.messagesWritten())
            .put("invalid", stats.invalidMessagesRead()).put("mapUse", stats.bufferUtilization());
    }
}
