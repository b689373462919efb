package weir.oracle;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * The server-side assignors. Partitions are numbered through all topics in the order given; a target is one member index a
 * partition, -1 for none. Members, a member's topics and its previous partitions are walked in the order given, by linked maps
 * and sets in the places where a broker has hash tables.
 */
final class Assignors {
    private record Topic(Uuid id, int first, int partitions) {
    }

    private Assignors() {
    }

    /** Answers 0 and the owners, or 1 and the exception's class and message. */
    static byte[] run(In in) {
        ConsumerGroupPartitionAssignor assignor = in.i8() == 0 ? new UniformAssignor() : new RangeAssignor();
        SubscriptionType type = in.bool() ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;

        Topic[] topics = new Topic[in.i32()];
        Map<Uuid, Topic> byId = new HashMap<>();
        int total = 0;
        for (int t = 0; t < topics.length; t++) {
            topics[t] = new Topic(new Uuid(in.i64(), in.i64()), total, in.i32());
            total += topics[t].partitions;
            if (byId.put(topics[t].id, topics[t]) != null) {
                throw new IllegalArgumentException("a topic id appears twice");
            }
        }

        String[] racks = new String[in.i32()];
        for (int i = 0; i < racks.length; i++) {
            racks[i] = in.str();
        }
        String[] ids = new String[in.i32()];
        String[] instances = new String[ids.length];
        int[] memberRacks = new int[ids.length];
        @SuppressWarnings({"unchecked", "rawtypes"})
        Set<Uuid>[] subscriptions = new Set[ids.length];
        for (int m = 0; m < ids.length; m++) {
            ids[m] = in.str();
            instances[m] = in.str();
            memberRacks[m] = in.i32();
            int n = in.i32();
            if (n < 0) { // as the member before
                subscriptions[m] = subscriptions[m - 1];
                continue;
            }
            subscriptions[m] = new LinkedHashSet<>();
            for (; n > 0; n--) {
                subscriptions[m].add(topics[in.i32()].id);
            }
        }

        @SuppressWarnings({"unchecked", "rawtypes"})
        Map<Uuid, Set<Integer>>[] previous = new Map[ids.length];
        Arrays.setAll(previous, m -> new LinkedHashMap<>());
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        for (Topic t : topics) {
            for (int p = 0; p < t.partitions; p++) {
                int owner = in.i32();
                if (owner >= 0) {
                    previous[owner].computeIfAbsent(t.id, id -> new LinkedHashSet<>()).add(p);
                    inverted.computeIfAbsent(t.id, id -> new HashMap<>()).put(p, ids[owner]);
                }
            }
        }
        Map<Uuid, Set<String>[]> partitionRacks = in.bool() ? readRacks(in, topics, racks) : Map.of();

        Map<String, MemberSubscriptionAndAssignmentImpl> members = new LinkedHashMap<>();
        Map<String, Integer> indexes = new HashMap<>();
        for (int m = 0; m < ids.length; m++) {
            members.put(ids[m], new MemberSubscriptionAndAssignmentImpl(
                memberRacks[m] < 0 ? Optional.empty() : Optional.of(racks[memberRacks[m]]),
                instances[m].isEmpty() ? Optional.empty() : Optional.of(instances[m]),
                subscriptions[m],
                new Assignment(previous[m])));
            indexes.put(ids[m], m);
        }

        Out out = new Out();
        try {
            GroupAssignment target = assignor.assign(
                new GroupSpecImpl(Collections.unmodifiableMap(members), type, inverted),
                new Describer(byId, partitionRacks));
            return out.i8(0).i32s(owners(target, byId, indexes, total)).done();
        } catch (PartitionAssignorException e) {
            return out.i8(1).str(e.getClass().getSimpleName()).str(e.getMessage()).done();
        }
    }

    private static Map<Uuid, Set<String>[]> readRacks(In in, Topic[] topics, String[] racks) {
        Map<Uuid, Set<String>[]> partitionRacks = new HashMap<>();
        for (Topic t : topics) {
            @SuppressWarnings({"unchecked", "rawtypes"})
            Set<String>[] sets = new Set[t.partitions];
            for (int p = 0; p < sets.length; p++) {
                sets[p] = new LinkedHashSet<>();
                for (int n = in.i8(); n > 0; n--) {
                    sets[p].add(racks[in.i32()]);
                }
            }
            partitionRacks.put(t.id, sets);
        }
        return partitionRacks;
    }

    private static int[] owners(GroupAssignment target, Map<Uuid, Topic> topics, Map<String, Integer> members, int total) {
        int[] owners = new int[total];
        Arrays.fill(owners, -1);
        target.members().forEach((id, assignment) -> assignment.partitions().forEach((topicId, partitions) -> {
            Topic t = topics.get(topicId);
            for (int p : partitions) {
                if (p < 0 || p >= t.partitions || owners[t.first + p] != -1) {
                    throw new IllegalStateException("partition " + p + " of " + t + " is assigned twice or does not exist");
                }
                owners[t.first + p] = members.get(id);
            }
        }));
        return owners;
    }

    private record Describer(Map<Uuid, Topic> topics, Map<Uuid, Set<String>[]> racks) implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topicId) {
            Topic t = topics.get(topicId);
            return t == null ? -1 : t.partitions;
        }

        @Override
        public Set<String> racksForPartition(Uuid topicId, int partition) {
            Set<String>[] sets = racks.get(topicId);
            return sets == null ? Set.of() : sets[partition];
        }
    }
}
