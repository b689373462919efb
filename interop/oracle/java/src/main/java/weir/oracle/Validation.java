package weir.oracle;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.compress.GzipCompression;
import org.apache.kafka.common.compress.Lz4Compression;
import org.apache.kafka.common.compress.ZstdCompression;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse.RecordError;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.PrimitiveRef;
import org.apache.kafka.server.record.BrokerCompressionType;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogValidator;
import org.apache.kafka.storage.internals.log.RecordValidationException;
import org.apache.kafka.storage.internals.log.UnifiedLog;

/**
 * What a leader does to one partition's records of a produce request before it writes them: the request's own check, the
 * log's analysis, LogValidator, and the size checks after it. All of it is Kafka's code; only the order is repeated here.
 */
final class Validation {
    private static final LogValidator.MetricsRecorder NO_METRICS = new LogValidator.MetricsRecorder() {
        @Override
        public void recordInvalidMagic() {
        }

        @Override
        public void recordInvalidOffset() {
        }

        @Override
        public void recordInvalidSequence() {
        }

        @Override
        public void recordInvalidChecksums() {
        }

        @Override
        public void recordNoKeyCompactedTopic() {
        }
    };

    private final Path dir;
    private final AtomicInteger lanes = new AtomicInteger();
    private final ThreadLocal<Lane> lane = ThreadLocal.withInitial(this::newLane);
    private final Method analyze;
    private final Method trim;

    /** What one worker thread keeps for itself: an empty log to run the analysis of, and buffers. */
    private record Lane(UnifiedLog log, Map<Integer, LogConfig> configs, BufferSupplier buffers) {
    }

    Validation(Path dir) throws NoSuchMethodException {
        this.dir = dir;
        analyze = UnifiedLog.class.getDeclaredMethod("analyzeAndValidateRecords", MemoryRecords.class, AppendOrigin.class,
            boolean.class, boolean.class, int.class);
        analyze.setAccessible(true);
        trim = UnifiedLog.class.getDeclaredMethod("trimInvalidBytes", MemoryRecords.class, LogAppendInfo.class);
        trim.setAccessible(true);
    }

    private Lane newLane() {
        try {
            Path part = dir.resolve("t" + lanes.incrementAndGet()).resolve("t-0");
            Files.createDirectories(part);
            UnifiedLog log = Logs.create(part.toFile(), new LogConfig(Map.of("segment.index.bytes", "1024")), 0, 0, new Clock(0), true,
                86_400_000, new NoScheduler());
            return new Lane(log, new HashMap<>(), BufferSupplier.create());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    byte[] run(In in) {
        short produceVersion = in.i16();
        long nextOffset = in.i64();
        int leaderEpoch = in.i32();
        long now = in.i64();
        TimestampType timestampType = in.i8() == 1 ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
        long beforeMax = in.i64();
        long afterMax = in.i64();
        int maxMessageBytes = in.i32();
        int segmentBytes = in.i32();
        int maxDecompressed = in.i32();
        boolean compacted = in.bool();
        String codec = in.str();
        int level = in.i32();
        AppendOrigin origin = AppendOrigin.values()[in.i8()];
        boolean wantRecords = in.bool();
        byte[] raw = in.bytes();

        Lane my = lane.get();
        String stage = "request";
        try {
            MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(raw));
            if (produceVersion >= 0) {
                ProduceRequest.validateRecords(produceVersion, records);
            }
            stage = "analyze";
            my.log.updateConfig(my.configs.computeIfAbsent(maxMessageBytes, n ->
                new LogConfig(Map.of("max.message.bytes", Integer.toString(n)))));
            LogAppendInfo found = (LogAppendInfo) call(analyze, my.log, records, origin, false, false, leaderEpoch);
            if (found.validBytes() <= 0) {
                return new Out().i8(2).done();
            }
            MemoryRecords whole = (MemoryRecords) call(trim, my.log, records, found);
            stage = "validate";
            PrimitiveRef.LongRef offset = PrimitiveRef.ofLong(nextOffset);
            Compression target = BrokerCompressionType.targetCompression(compression(codec, level), found.sourceCompression());
            LogValidator.ValidationResult result = new LogValidator(whole, my.log.topicPartition(), new Clock(now),
                found.sourceCompression(), target, compacted, RecordBatch.CURRENT_MAGIC_VALUE, timestampType, beforeMax, afterMax,
                leaderEpoch, origin, maxDecompressed).validateMessagesAndAssignOffsets(offset, NO_METRICS, my.buffers);
            stage = "size";
            MemoryRecords valid = result.validatedRecords();
            if (result.messageSizeMaybeChanged()) {
                for (MutableRecordBatch batch : valid.batches()) {
                    if (batch.sizeInBytes() > maxMessageBytes) {
                        throw new RecordTooLargeException("batch of " + batch.sizeInBytes() + " bytes after recompression");
                    }
                }
            }
            if (segmentBytes > 0 && valid.sizeInBytes() > segmentBytes) {
                throw new RecordBatchTooLargeException("set of " + valid.sizeInBytes() + " bytes above the segment size");
            }
            return accepted(nextOffset, offset.value - 1, timestampType, result, wantRecords);
        } catch (Throwable t) {
            return rejected(stage, t);
        }
    }

    private static Object call(Method method, Object target, Object... args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static Optional<Compression> compression(String codec, int level) {
        boolean leveled = level != Integer.MIN_VALUE;
        return switch (codec) {
            case "producer" -> Optional.empty();
            case "uncompressed", "none" -> Optional.of(Compression.NONE);
            case "gzip" -> {
                GzipCompression.Builder b = Compression.gzip();
                yield Optional.of(leveled ? b.level(level).build() : b.build());
            }
            case "snappy" -> Optional.of(Compression.snappy().build());
            case "lz4" -> {
                Lz4Compression.Builder b = Compression.lz4();
                yield Optional.of(leveled ? b.level(level).build() : b.build());
            }
            case "zstd" -> {
                ZstdCompression.Builder b = Compression.zstd();
                yield Optional.of(leveled ? b.level(level).build() : b.build());
            }
            default -> throw new IllegalArgumentException("codec " + codec + ", one of " + List.of(CompressionType.values()));
        };
    }

    private static byte[] accepted(long first, long last, TimestampType type, LogValidator.ValidationResult result, boolean wantRecords) {
        Out out = new Out().i8(0).i64(first).i64(last).i64(result.maxTimestampMs())
            .i64(type == TimestampType.LOG_APPEND_TIME ? result.logAppendTimeMs() : RecordBatch.NO_TIMESTAMP)
            .bool(result.messageSizeMaybeChanged()).bytes(result.validatedRecords().buffer());
        if (!wantRecords) {
            return out.i32(-1).done();
        }
        int count = 0;
        Out list = new Out();
        for (Record r : result.validatedRecords().records()) {
            list.i64(r.offset()).i64(r.timestamp()).bytes(r.key()).bytes(r.value()).i32(r.headers().length);
            for (Header h : r.headers()) {
                list.str(h.key()).bytes(h.value());
            }
            count++;
        }
        return out.i32(count).bytes(list.done()).done();
    }

    private static byte[] rejected(String stage, Throwable t) {
        Throwable named = t;
        List<RecordError> errors = List.of();
        if (t instanceof RecordValidationException r) {
            named = r.invalidException();
            errors = r.recordErrors();
        }
        Out out = new Out().i8(1).str(stage).str(named.getClass().getSimpleName()).i16(Errors.forException(named).code())
            .str(named.getMessage()).i32(errors.size());
        for (RecordError e : errors) {
            out.i32(e.batchIndex).str(e.message);
        }
        return out.done();
    }
}
