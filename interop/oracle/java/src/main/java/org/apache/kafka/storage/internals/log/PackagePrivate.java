package org.apache.kafka.storage.internals.log;

import java.lang.reflect.Method;
import java.util.Optional;
import org.apache.kafka.common.record.internal.RecordBatch;

/** Opens what Kafka keeps package-private and the oracle has to ask. */
public final class PackagePrivate {
    private PackagePrivate() {
    }

    public static Optional<BatchMetadata> findDuplicate(ProducerStateEntry entry, RecordBatch batch) {
        return entry.findDuplicateBatch(batch);
    }

    /** The offsets that may be cleaned, and for how long they should have been. */
    public record ToClean(long from, long to, boolean reset, long overdueMs) {
    }

    public static ToClean cleanableOffsets(UnifiedLog log, Optional<Long> checkpoint, long now) throws Exception {
        LogCleanerManager.OffsetsToClean range = LogCleanerManager.cleanableOffsets(log, checkpoint, now);
        Method delay = LogCleanerManager.class.getDeclaredMethod("maxCompactionDelay", UnifiedLog.class, long.class, long.class);
        delay.setAccessible(true);
        return new ToClean(range.firstDirtyOffset(), range.firstUncleanableDirtyOffset(), range.forceUpdateCheckpoint(),
            (long) delay.invoke(null, log, range.firstDirtyOffset(), now));
    }
}
