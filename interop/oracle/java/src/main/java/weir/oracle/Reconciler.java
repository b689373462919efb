package weir.oracle;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.FencedMemberEpochException;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.MemberState;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.CurrentAssignmentBuilder;

/** One step of CurrentAssignmentBuilder. A topic's name is its id as text; every id there is exists. */
final class Reconciler {
    private Reconciler() {
    }

    /** Answers 0 as it was, 1 and the member's next state, or 2 fenced. */
    static byte[] run(In in) {
        int epoch = in.i32();
        int previousEpoch = in.i32();
        MemberState state = MemberState.fromValue(in.i8());
        Map<Uuid, Map<Integer, Integer>> assigned = withEpochs(in);
        Map<Uuid, Map<Integer, Integer>> pending = withEpochs(in);
        int targetEpoch = in.i32();
        Map<Uuid, Set<Integer>> target = plain(in);
        boolean subscriptionChanged = in.bool();
        List<String> subscribed = new ArrayList<>();
        for (int n = in.i32(); n > 0; n--) {
            subscribed.add(new Uuid(in.i64(), in.i64()).toString());
        }
        Map<Uuid, Set<Integer>> held = plain(in);
        List<ConsumerGroupHeartbeatRequestData.TopicPartitions> owned = null;
        if (in.bool()) {
            owned = plain(in).entrySet().stream().map(e -> new ConsumerGroupHeartbeatRequestData.TopicPartitions()
                .setTopicId(e.getKey()).setPartitions(new ArrayList<>(e.getValue()))).collect(Collectors.toList());
        }

        ConsumerGroupMember member = new ConsumerGroupMember.Builder("m")
            .setMemberEpoch(epoch).setPreviousMemberEpoch(previousEpoch).setState(state)
            .setSubscribedTopicNames(subscribed).setAssignedPartitions(assigned).setPartitionsPendingRevocation(pending).build();
        Out out = new Out();
        ConsumerGroupMember next;
        try {
            next = new CurrentAssignmentBuilder(member)
                .withMetadataImage(new NamedById())
                .withTargetAssignment(targetEpoch, new Assignment(target))
                .withHasSubscriptionChanged(subscriptionChanged)
                .withCurrentPartitionEpoch((id, p) -> held.getOrDefault(id, Set.of()).contains(p) ? 1 : -1)
                .withOwnedTopicPartitions(owned)
                .build();
        } catch (FencedMemberEpochException e) {
            return out.i8(2).done();
        }
        if (next.equals(member)) {
            return out.i8(0).done();
        }
        out.i8(1).i32(next.memberEpoch()).i32(next.previousMemberEpoch()).i8(next.state().value());
        write(out, next.assignedPartitions());
        write(out, next.partitionsPendingRevocation());
        return out.done();
    }

    private static Map<Uuid, Map<Integer, Integer>> withEpochs(In in) {
        Map<Uuid, Map<Integer, Integer>> map = new HashMap<>();
        for (int n = in.i32(); n > 0; n--) {
            Uuid id = new Uuid(in.i64(), in.i64());
            Map<Integer, Integer> partitions = new HashMap<>();
            for (int k = in.i32(); k > 0; k--) {
                partitions.put(in.i32(), in.i32());
            }
            map.put(id, partitions);
        }
        return map;
    }

    private static Map<Uuid, Set<Integer>> plain(In in) {
        Map<Uuid, Set<Integer>> map = new HashMap<>();
        for (int n = in.i32(); n > 0; n--) {
            Uuid id = new Uuid(in.i64(), in.i64());
            Set<Integer> partitions = new HashSet<>();
            for (int k = in.i32(); k > 0; k--) {
                partitions.add(in.i32());
            }
            map.put(id, partitions);
        }
        return map;
    }

    private static void write(Out out, Map<Uuid, Map<Integer, Integer>> assignment) {
        Map<Uuid, Map<Integer, Integer>> sorted = new TreeMap<>(assignment);
        out.i32(sorted.size());
        sorted.forEach((id, partitions) -> {
            out.i64(id.getMostSignificantBits()).i64(id.getLeastSignificantBits()).i32(partitions.size());
            new TreeMap<>(partitions).forEach((p, e) -> out.i32(p).i32(e));
        });
    }

    private record NamedTopic(String name, Uuid id) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public int partitionCount() {
            return 1000;
        }

        @Override
        public List<String> partitionRacks(int partitionId) {
            return List.of();
        }
    }

    private record NamedById() implements CoordinatorMetadataImage {
        @Override
        public Set<Uuid> topicIds() {
            return Set.of();
        }

        @Override
        public Set<String> topicNames() {
            return Set.of();
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String topicName) {
            return Optional.of(new NamedTopic(topicName, Uuid.fromString(topicName)));
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid topicId) {
            return Optional.of(new NamedTopic(topicId.toString(), topicId));
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            return CoordinatorMetadataDelta.EMPTY;
        }

        @Override
        public long version() {
            return 1;
        }

        @Override
        public boolean isEmpty() {
            return false;
        }
    }
}
