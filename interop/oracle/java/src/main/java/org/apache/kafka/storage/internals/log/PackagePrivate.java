package org.apache.kafka.storage.internals.log;

import java.util.Optional;
import org.apache.kafka.common.record.internal.RecordBatch;

/** Opens what Kafka keeps package-private and the oracle has to ask. */
public final class PackagePrivate {
    private PackagePrivate() {
    }

    public static Optional<BatchMetadata> findDuplicate(ProducerStateEntry entry, RecordBatch batch) {
        return entry.findDuplicateBatch(batch);
    }
}
