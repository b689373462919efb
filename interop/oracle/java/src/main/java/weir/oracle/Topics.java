package weir.oracle;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

/**
 * The topics of a cluster of three brokers, 0 in rack r0, 1 in rack r1 and 2 in none. Partition p has one replica, on broker
 * p modulo 3. Topics do not shrink: fewer partitions need another id.
 */
final class Topics {
    private record Topic(Uuid id, int partitions) {
    }

    private MetadataImage image = MetadataImage.EMPTY;
    private Map<String, Topic> topics = Map.of();

    CoordinatorMetadataImage image() {
        return new KRaftCoordinatorMetadataImage(image);
    }

    /** Makes the topics, written "name=partitions/id" and separated by commas, the only ones, as of an offset. */
    CoordinatorMetadataDelta change(String text, long offset) {
        Map<String, Topic> next = new TreeMap<>();
        for (String one : text.isEmpty() ? new String[0] : text.split(",")) {
            String[] nameAndRest = one.split("=");
            String[] countAndId = nameAndRest[1].split("/");
            next.put(nameAndRest[0], new Topic(new Uuid(0, Long.parseLong(countAndId[1])), Integer.parseInt(countAndId[0])));
        }
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        for (int broker = 0; image.isEmpty() && broker < 3; broker++) {
            delta.replay(new RegisterBrokerRecord().setBrokerId(broker).setBrokerEpoch(1).setIncarnationId(new Uuid(1, broker)).setFenced(false)
                .setRack(broker == 2 ? null : "r" + broker).setLogDirs(List.of(new Uuid(2, broker))));
        }
        topics.forEach((name, topic) -> {
            if (!next.containsKey(name) || !next.get(name).id.equals(topic.id)) {
                delta.replay(new RemoveTopicRecord().setTopicId(topic.id));
            }
        });
        next.forEach((name, topic) -> {
            Topic before = topics.get(name);
            boolean isNew = before == null || !before.id.equals(topic.id);
            if (isNew) {
                delta.replay(new TopicRecord().setName(name).setTopicId(topic.id));
            }
            for (int p = isNew ? 0 : before.partitions; p < topic.partitions; p++) {
                delta.replay(new PartitionRecord().setTopicId(topic.id).setPartitionId(p).setReplicas(List.of(p % 3)).setIsr(List.of(p % 3))
                    .setLeader(p % 3).setLeaderEpoch(0).setPartitionEpoch(0).setDirectories(List.of(new Uuid(2, p % 3))));
            }
        });
        image = delta.apply(new MetadataProvenance(offset, 1, 0, true));
        topics = next;
        return new KRaftCoordinatorMetadataDelta(delta);
    }
}
