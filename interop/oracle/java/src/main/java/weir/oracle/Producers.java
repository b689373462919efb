package weir.oracle;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.BatchMetadata;
import org.apache.kafka.storage.internals.log.CompletedTxn;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;
import org.apache.kafka.storage.internals.log.PackagePrivate;
import org.apache.kafka.storage.internals.log.ProducerAppendInfo;
import org.apache.kafka.storage.internals.log.ProducerStateEntry;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;

/** Plays a sequence of appends, expiries and restarts on a fresh ProducerStateManager, as the log drives it. */
final class Producers {
    private static final byte APPEND = 1;
    private static final byte EXPIRE = 2;
    private static final byte RESTART = 3;
    private static final byte LOG_START = 4;

    private final Path dir;
    private final AtomicInteger count = new AtomicInteger();
    private final ThreadLocal<File> lane = ThreadLocal.withInitial(this::newLane);
    private final TopicPartition partition = new TopicPartition("t", 0);

    Producers(Path dir) {
        this.dir = dir;
    }

    private File newLane() {
        try {
            return Files.createDirectories(dir.resolve("p" + count.incrementAndGet()).resolve("t-0")).toFile();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    byte[] run(In in) throws IOException {
        long expirationMs = in.i64();
        long next = in.i64();
        short transactionVersion = in.i16();
        int ops = in.i32();
        File my = lane.get();
        Clock clock = new Clock(0);
        ProducerStateManagerConfig config = new ProducerStateManagerConfig((int) expirationMs, false);
        ProducerStateManager state = new ProducerStateManager(partition, my, 900_000, config, clock);
        state.truncateFullyAndStartAt(next);
        state.updateMapEndOffset(next);
        Out out = new Out();
        for (int i = 0; i < ops; i++) {
            switch (in.i8()) {
                case APPEND -> next = append(state, in, next, transactionVersion, out);
                case EXPIRE -> {
                    state.removeExpiredProducers(in.i64());
                    out.i8(0).i64(-1).i64(-1);
                }
                case RESTART -> {
                    long logStart = in.i64();
                    long now = in.i64();
                    state.takeSnapshot();
                    state = new ProducerStateManager(partition, my, 900_000, config, clock);
                    state.truncateAndReload(logStart, next, now);
                    out.i8(0).i64(-1).i64(-1);
                }
                case LOG_START -> {
                    state.onLogStartOffsetIncremented(in.i64());
                    out.i8(0).i64(-1).i64(-1);
                }
                default -> throw new IllegalArgumentException("unknown step");
            }
        }
        File snapshot = new File(my.getParentFile(), "snapshot");
        ProducerStateManager.writeSnapshot(snapshot, state.activeProducers(), false);
        out.i64(next).bytes(Files.readAllBytes(snapshot.toPath()));
        entries(state.activeProducers(), out);
        state.truncateFullyAndStartAt(0);
        return out.done();
    }

    /** Answers 0 accepted, 1 duplicate, 2 rejected. Offsets are given out as a leader does. */
    private long append(ProducerStateManager state, In in, long next, short transactionVersion, Out out) {
        AppendOrigin origin = AppendOrigin.values()[in.i8()];
        MutableRecordBatch batch = MemoryRecords.readableRecords(ByteBuffer.wrap(in.bytes())).batches().iterator().next();
        int span = (int) (batch.lastOffset() - batch.baseOffset());
        batch.setLastOffset(next + span);
        try {
            Map<Long, ProducerAppendInfo> updated = new HashMap<>();
            Optional<CompletedTxn> completed = Optional.empty();
            if (batch.hasProducerId()) {
                if (origin == AppendOrigin.CLIENT) {
                    Optional<BatchMetadata> duplicate = state.lastEntry(batch.producerId())
                        .flatMap(e -> PackagePrivate.findDuplicate(e, batch));
                    if (duplicate.isPresent()) {
                        out.i8(1).i64(duplicate.get().firstOffset()).i64(duplicate.get().lastOffset()).i64(duplicate.get().timestamp());
                        return next;
                    }
                }
                Optional<LogOffsetMetadata> first = batch.isTransactional()
                    ? Optional.of(new LogOffsetMetadata(batch.baseOffset(), 0, 0)) : Optional.empty();
                completed = UnifiedLog.updateProducers(state, batch, updated, first, origin, transactionVersion);
            }
            updated.values().forEach(state::update);
            completed.ifPresent(c -> {
                state.lastStableOffset(c);
                state.completeTxn(c);
            });
            state.updateMapEndOffset(batch.lastOffset() + 1);
            out.i8(0).i64(batch.baseOffset()).i64(batch.lastOffset());
            return batch.lastOffset() + 1;
        } catch (Exception e) {
            out.i8(2).str(e.getClass().getSimpleName()).i16(Errors.forException(e).code()).str(e.getMessage());
            return next;
        }
    }

    static void entries(Map<Long, ProducerStateEntry> producers, Out out) {
        out.i32(producers.size());
        for (ProducerStateEntry e : new TreeMap<>(producers).values()) {
            out.i64(e.producerId()).i16(e.producerEpoch()).i32(e.coordinatorEpoch()).i64(e.lastTimestamp())
                .i64(e.currentTxnFirstOffset().orElse(-1)).i32(e.batchMetadata().size());
            for (BatchMetadata b : e.batchMetadata()) {
                out.i32(b.firstSeq()).i32(b.lastSeq()).i64(b.firstOffset()).i64(b.lastOffset()).i64(b.timestamp());
            }
        }
    }
}
