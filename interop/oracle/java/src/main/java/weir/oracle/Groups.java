package weir.oracle;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.ConsumerGroupDescribeRequestData;
import org.apache.kafka.common.message.ConsumerGroupDescribeResponseData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.message.DeleteGroupsRequestData;
import org.apache.kafka.common.message.DeleteGroupsResponseData;
import org.apache.kafka.common.message.DescribeGroupsRequestData;
import org.apache.kafka.common.message.DescribeGroupsResponseData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.HeartbeatResponseData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.LeaveGroupResponseData;
import org.apache.kafka.common.message.ListGroupsRequestData;
import org.apache.kafka.common.message.ListGroupsResponseData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.OffsetDeleteRequestData;
import org.apache.kafka.common.message.OffsetDeleteResponseData;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.JoinGroupRequest;
import org.apache.kafka.common.requests.JoinGroupResponse;
import org.apache.kafka.common.requests.LeaveGroupRequest;
import org.apache.kafka.common.requests.LeaveGroupResponse;
import org.apache.kafka.common.requests.OffsetCommitRequest;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.requests.TxnOffsetCommitRequest;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorExecutor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimer;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * A group coordinator's shard without a broker: requests and the passing of time in, answers and records out. What the
 * runtime does in a broker is done here at once: records are replayed where the result asks for it, and count as committed.
 *
 * The random part of member ids is replaced by "00000000-0000-0000-0000-" and the number, in 12 digits, of the step whose
 * request made it, in answers, in records and, the other way round, in requests.
 */
final class Groups {
    private static final Pattern RANDOM = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final String MARK = "00000000-0000-0000-0000-";
    private static final GroupCoordinatorMetrics METRICS = new GroupCoordinatorMetrics();
    private static final AbstractConfig NO_SHARES = new AbstractConfig(
        Utils.mergeConfigs(List.of(GroupCoordinatorConfig.CONFIG_DEF, ShareGroupConfig.CONFIG_DEF)), Map.of(), false);
    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();

    private record Timeout(long at, long order, CoordinatorTimer.TimeoutOperation<CoordinatorRecord> operation) {
    }

    /** A record, or with none the marker that ends a transaction. */
    private record Logged(CoordinatorRecord record, long producerId, TransactionResult marker) {
    }

    private record Context(String clientId, int requestType, int requestVersion) implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "PLAINTEXT";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public KafkaPrincipal principal() {
            return KafkaPrincipal.ANONYMOUS;
        }

        @Override
        public InetAddress clientAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public int correlationId() {
            return 0;
        }
    }

    private record Task<R>(String key, CoordinatorExecutor.TaskRunnable<R> task, CoordinatorExecutor.TaskOperation<CoordinatorRecord, R> operation) {
        CoordinatorResult<Void, CoordinatorRecord> run() {
            R result;
            try {
                result = task.run();
            } catch (Throwable e) {
                return operation.onComplete(null, e);
            }
            return operation.onComplete(result, null);
        }
    }

    private final Clock clock;
    private final GroupCoordinatorConfig config;
    private final GroupConfigManager configs;
    private final Topics topics = new Topics();
    private final List<Logged> log = new ArrayList<>();
    private final Map<String, String> real = new HashMap<>();
    private final Map<String, String> marks = new HashMap<>();
    private Map<String, Timeout> timers = new LinkedHashMap<>();
    private Map<String, Task<?>> tasks = new LinkedHashMap<>();
    private List<CoordinatorRecord> fresh = new ArrayList<>();
    private Map<Integer, ApiMessage> answers = new LinkedHashMap<>();
    private final Map<Integer, Short> versions = new HashMap<>();
    private GroupCoordinatorShard shard;
    private long order;
    private int life;

    private Groups(long nowMs, Map<String, String> props) {
        clock = new Clock(nowMs);
        config = GroupCoordinatorConfig.fromProps(props);
        configs = new GroupConfigManager(config, new ShareGroupConfig(NO_SHARES));
        start();
    }

    /** Answers with the record as Kafka writes it again: key, value, and how it prints. */
    static byte[] record(In in) {
        byte[] key = in.bytes();
        byte[] value = in.bool() ? in.bytes() : null;
        CoordinatorRecord r;
        try {
            r = SERDE.deserialize(ByteBuffer.wrap(key), value == null ? null : ByteBuffer.wrap(value));
        } catch (RuntimeException e) {
            return new Out().i8(1).str(e.getClass().getSimpleName()).str(e.getMessage()).done();
        }
        try {
            return new Out().i8(0).bytes(SERDE.serializeKey(r)).bytes(SERDE.serializeValue(r)).str(r.toString()).done();
        } catch (RuntimeException e) { // what damaged bytes were read as may not be writable
            return new Out().i8(0).bytes((byte[]) null).bytes((byte[]) null).str(e.toString()).done();
        }
    }

    static byte[] play(In in) throws Exception {
        long now = in.i64();
        Map<String, String> props = new HashMap<>();
        for (int n = in.i32(); n > 0; n--) {
            props.put(in.str(), in.str());
        }
        Groups g = new Groups(now, props);
        Out out = new Out();
        int steps = in.i32();
        for (int step = 0; step < steps; step++) {
            g.fresh = new ArrayList<>();
            g.answers = new LinkedHashMap<>();
            g.advance(in.i32());
            g.step(step, in.i16(), in.i16(), in.str(), in.bytes());
            out.i32(g.fresh.size());
            for (CoordinatorRecord r : g.fresh) {
                out.bytes(g.mask(SERDE.serializeKey(r))).bytes(g.mask(SERDE.serializeValue(r)));
            }
            out.i32(g.answers.size());
            g.answers.forEach((token, answer) -> out.i32(token).bytes(g.mask(g.encode(answer, g.versions.get(token)))));
        }
        return out.done();
    }

    private void start() {
        life++;
        timers = new LinkedHashMap<>();
        tasks = new LinkedHashMap<>();
        shard = new GroupCoordinatorShard.Builder(config, configs)
            .withAuthorizerPlugin(Optional.empty())
            .withLogContext(new LogContext())
            .withTime(clock)
            .withTimer(new Timers())
            .withExecutor(new Executor())
            .withCoordinatorMetrics(METRICS)
            .withTopicPartition(new TopicPartition("__consumer_offsets", 0))
            .withSnapshotRegistry(new SnapshotRegistry(new LogContext()))
            .build();
        for (int i = 0; i < log.size(); i++) {
            replay(i);
        }
        shard.onLoaded(topics.image());
    }

    private void replay(int offset) {
        Logged l = log.get(offset);
        if (l.record == null) {
            shard.replayEndTransactionMarker(l.producerId, (short) 0, l.marker);
        } else {
            shard.replay(offset, l.producerId, (short) (l.producerId < 0 ? -1 : 0), l.record);
        }
    }

    private <T> T perform(CoordinatorResult<T, CoordinatorRecord> r) {
        return perform(r, -1);
    }

    private <T> T perform(CoordinatorResult<T, CoordinatorRecord> r, long producerId) {
        for (CoordinatorRecord record : r.records()) {
            log.add(new Logged(record, producerId, null));
            if (r.replayRecords()) {
                replay(log.size() - 1);
            }
            fresh.add(record);
        }
        if (r.appendFuture() != null) {
            r.appendFuture().complete(null);
        }
        return r.response();
    }

    private void advance(int ms) {
        long to = clock.milliseconds() + ms;
        while (true) {
            Map.Entry<String, Timeout> next = null;
            for (Map.Entry<String, Timeout> t : timers.entrySet()) {
                Timeout a = t.getValue();
                if (next == null || a.at < next.getValue().at || a.at == next.getValue().at && a.order < next.getValue().order) {
                    next = t;
                }
            }
            if (next == null || next.getValue().at > to) {
                break;
            }
            Timeout due = next.getValue();
            timers.remove(next.getKey());
            clock.set(due.at);
            perform(due.operation.generateRecords());
            runTasks();
        }
        clock.set(to);
    }

    private void step(int step, short key, short version, String clientId, byte[] raw) throws Exception {
        if (key == -1) {
            start();
            return;
        }
        if (key == -3 || key == -4) {
            log.add(new Logged(null, version, key == -3 ? TransactionResult.COMMIT : TransactionResult.ABORT));
            replay(log.size() - 1);
            return;
        }
        if (key == -5) {
            perform(shard.onTopicsDeleted(List.of(new GroupCoordinatorShard.DeletedTopic(new Uuid(1, 2), clientId))));
            return;
        }
        if (key == -6) {
            var delta = topics.change(new String(raw, StandardCharsets.UTF_8), version);
            shard.onMetadataUpdate(delta, topics.image());
            return;
        }
        if (key == -7) {
            Properties p = new Properties();
            p.load(new java.io.ByteArrayInputStream(raw));
            configs.updateGroupConfig(clientId, p);
            return;
        }
        if (key < 0) {
            return;
        }
        versions.put(step, version);
        Context context = new Context(clientId, key, version);
        ByteBufferAccessor body = new ByteBufferAccessor(ByteBuffer.wrap(unmask(raw)));
        switch (key) {
            case 11 -> join(step, context, new JoinGroupRequest(new JoinGroupRequestData(body, version), version).data());
            case 14 -> sync(step, context, new SyncGroupRequestData(body, version));
            default -> answers.put(step, answer(context, body, key, version));
        }
        runTasks();
    }

    /** Tasks run once the operation that scheduled them is done. */
    private void runTasks() {
        while (!tasks.isEmpty()) {
            Task<?> t = tasks.values().iterator().next();
            tasks.remove(t.key);
            perform(t.run());
        }
    }

    private void join(int step, Context context, JoinGroupRequestData request) {
        CompletableFuture<JoinGroupResponseData> future = new CompletableFuture<>();
        complete(step, future);
        perform(shard.classicGroupJoin(context, request, future, true));
        if (request.memberId().isEmpty()) {
            String now = answers.get(step) + " " + shard.describeGroups(context, List.of(request.groupId()), Long.MAX_VALUE);
            Matcher m = RANDOM.matcher(now);
            while (m.find()) {
                if (!marks.containsKey(m.group())) {
                    String mark = MARK + String.format("%012d", step);
                    marks.put(m.group(), mark);
                    real.put(mark, m.group());
                }
            }
        }
    }

    private void sync(int step, Context context, SyncGroupRequestData request) {
        CompletableFuture<SyncGroupResponseData> future = new CompletableFuture<>();
        complete(step, future);
        perform(shard.classicGroupSync(context, request, future));
    }

    private <T extends ApiMessage> void complete(int step, CompletableFuture<T> future) {
        int born = life;
        future.thenAccept(r -> {
            if (born == life) {
                answers.put(step, r);
            }
        });
    }

    private ApiMessage answer(Context context, ByteBufferAccessor body, short key, short version) {
        return switch (key) {
            case 8 -> {
                OffsetCommitRequestData q = new OffsetCommitRequestData(body, version);
                // A broker has found the one for the other before the shard gets the request.
                q.topics().forEach(t -> {
                    if (t.name().isEmpty()) {
                        topics.image().topicMetadata(t.topicId()).ifPresent(m -> t.setName(m.name()));
                    } else {
                        topics.image().topicMetadata(t.name()).ifPresent(m -> t.setTopicId(m.id()));
                    }
                });
                yield or(() -> perform(shard.commitOffset(context, q)), e -> OffsetCommitRequest.getErrorResponse(q, e));
            }
            case 9 -> {
                OffsetFetchRequestData q = new OffsetFetchRequestData(body, version);
                OffsetFetchResponseData a = new OffsetFetchResponseData();
                q.groups().forEach(g -> a.groups().add(or(() -> shard.fetchOffsets(g, Long.MAX_VALUE),
                    e -> new OffsetFetchResponseData.OffsetFetchResponseGroup().setGroupId(g.groupId()).setErrorCode(e.code()))));
                yield a;
            }
            case 12 -> {
                HeartbeatRequestData q = new HeartbeatRequestData(body, version);
                yield or(() -> perform(shard.classicGroupHeartbeat(context, q)), e -> new HeartbeatResponseData().setErrorCode(e.code()));
            }
            case 13 -> {
                LeaveGroupRequestData q = LeaveGroupRequest.parse(body, version).normalizedData();
                yield or(() -> perform(shard.classicGroupLeave(context, q)), e -> {
                    LeaveGroupResponseData a = new LeaveGroupResponseData();
                    if (e != Errors.UNKNOWN_MEMBER_ID) {
                        return a.setErrorCode(e.code());
                    }
                    q.members().forEach(m -> a.members().add(new LeaveGroupResponseData.MemberResponse()
                        .setMemberId(m.memberId()).setGroupInstanceId(m.groupInstanceId()).setErrorCode(e.code())));
                    return a;
                });
            }
            case 15 -> new DescribeGroupsResponseData().setGroups(
                shard.describeGroups(context, new DescribeGroupsRequestData(body, version).groups(), Long.MAX_VALUE));
            case 16 -> {
                ListGroupsRequestData q = new ListGroupsRequestData(body, version);
                yield new ListGroupsResponseData().setGroups(shard.listGroups(q.statesFilter(), q.typesFilter(), Long.MAX_VALUE));
            }
            case 28 -> {
                TxnOffsetCommitRequestData q = new TxnOffsetCommitRequestData(body, version);
                q.topics().forEach(t -> topics.image().topicMetadata(t.name()).ifPresent(m -> t.setTopicId(m.id())));
                yield or(() -> perform(shard.commitTransactionalOffset(context, q), q.producerId()), e -> TxnOffsetCommitRequest.getErrorResponse(q, e));
            }
            case 68 -> {
                ConsumerGroupHeartbeatRequestData q = new ConsumerGroupHeartbeatRequestData(body, version);
                // The text of an error is each side's own.
                yield or(() -> perform(shard.consumerGroupHeartbeat(context, q)), e -> new ConsumerGroupHeartbeatResponseData().setErrorCode(e.code()));
            }
            case 69 -> {
                ConsumerGroupDescribeRequestData q = new ConsumerGroupDescribeRequestData(body, version);
                yield new ConsumerGroupDescribeResponseData().setGroups(shard.consumerGroupDescribe(q.groupIds(), Long.MAX_VALUE));
            }
            case 42 -> {
                DeleteGroupsRequestData q = new DeleteGroupsRequestData(body, version);
                yield new DeleteGroupsResponseData().setResults(perform(shard.deleteGroups(context, q.groupsNames())));
            }
            case 47 -> {
                OffsetDeleteRequestData q = new OffsetDeleteRequestData(body, version);
                yield or(() -> perform(shard.deleteOffsets(context, q)), e -> new OffsetDeleteResponseData().setErrorCode(e.code()));
            }
            default -> throw new IllegalArgumentException("no request " + key);
        };
    }

    private interface OnError<T> {
        T answer(Errors e);
    }

    private static <T> T or(Supplier<T> run, OnError<T> otherwise) {
        try {
            return run.get();
        } catch (ApiException e) {
            return otherwise.answer(Errors.forException(e));
        }
    }

    private byte[] encode(ApiMessage answer, short version) {
        if (answer instanceof JoinGroupResponseData j) {
            answer = new JoinGroupResponse(j.duplicate(), version).data();
        } else if (answer instanceof LeaveGroupResponseData l) {
            answer = new LeaveGroupResponse(l.duplicate(), version).data();
        }
        ByteBuffer b = MessageUtil.toByteBufferAccessor(answer, version).buffer();
        byte[] raw = new byte[b.remaining()];
        b.get(raw);
        return raw;
    }

    /** ISO 8859-1 keeps every byte, so text of the same length can be exchanged within a message. */
    private byte[] mask(byte[] raw) {
        return exchange(raw, marks);
    }

    private byte[] unmask(byte[] raw) {
        return exchange(raw, real);
    }

    private static byte[] exchange(byte[] raw, Map<String, String> by) {
        if (raw == null) {
            return null;
        }
        Matcher m = RANDOM.matcher(new String(raw, StandardCharsets.ISO_8859_1));
        return m.replaceAll(r -> by.getOrDefault(r.group(), r.group())).getBytes(StandardCharsets.ISO_8859_1);
    }

    private final class Timers implements CoordinatorTimer<CoordinatorRecord> {
        @Override
        public void schedule(String key, long delay, TimeUnit unit, boolean retry, TimeoutOperation<CoordinatorRecord> operation) {
            timers.put(key, new Timeout(clock.milliseconds() + unit.toMillis(delay), order++, operation));
        }

        @Override
        public void schedule(String key, long delay, TimeUnit unit, boolean retry, long backoff, TimeoutOperation<CoordinatorRecord> operation) {
            schedule(key, delay, unit, retry, operation);
        }

        @Override
        public void scheduleIfAbsent(String key, long delay, TimeUnit unit, boolean retry, TimeoutOperation<CoordinatorRecord> operation) {
            if (!timers.containsKey(key)) {
                schedule(key, delay, unit, retry, operation);
            }
        }

        @Override
        public void cancel(String key) {
            timers.remove(key);
        }

        @Override
        public boolean isScheduled(String key) {
            return timers.containsKey(key);
        }
    }

    private final class Executor implements CoordinatorExecutor<CoordinatorRecord> {
        @Override
        public <R> boolean schedule(String key, TaskRunnable<R> task, TaskOperation<CoordinatorRecord, R> operation) {
            return tasks.putIfAbsent(key, new Task<>(key, task, operation)) == null;
        }

        @Override
        public boolean isScheduled(String key) {
            return tasks.containsKey(key);
        }

        @Override
        public void cancel(String key) {
            tasks.remove(key);
        }
    }
}
