package weir.oracle;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.internals.Exit;

/** Runs Kafka's command-line tools inside this process, one at a time, with their streams and exit code caught. */
final class Tools {
    private static final Map<String, String> MAIN = Map.ofEntries(
        Map.entry("topics", "org.apache.kafka.tools.TopicCommand"),
        Map.entry("configs", "org.apache.kafka.tools.ConfigCommand"),
        Map.entry("console-producer", "org.apache.kafka.tools.ConsoleProducer"),
        Map.entry("console-consumer", "org.apache.kafka.tools.consumer.ConsoleConsumer"),
        Map.entry("get-offsets", "org.apache.kafka.tools.GetOffsetShell"),
        Map.entry("delete-records", "org.apache.kafka.tools.DeleteRecordsCommand"),
        Map.entry("log-dirs", "org.apache.kafka.tools.LogDirsCommand"),
        Map.entry("broker-api-versions", "org.apache.kafka.tools.BrokerApiVersionsCommand"),
        Map.entry("cluster", "org.apache.kafka.tools.ClusterTool"),
        Map.entry("features", "org.apache.kafka.tools.FeatureCommand"),
        Map.entry("metadata-quorum", "org.apache.kafka.tools.MetadataQuorumCommand"),
        Map.entry("producer-perf-test", "org.apache.kafka.tools.ProducerPerformance"),
        Map.entry("verifiable-producer", "org.apache.kafka.tools.VerifiableProducer"),
        Map.entry("dump-log", "org.apache.kafka.tools.DumpLogSegments"),
        Map.entry("consumer-groups", "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"),
        Map.entry("groups", "org.apache.kafka.tools.GroupsCommand"),
        Map.entry("transactions", "org.apache.kafka.tools.TransactionsCommand"),
        Map.entry("acls", "org.apache.kafka.tools.AclCommand"),
        Map.entry("leader-election", "org.apache.kafka.tools.LeaderElectionCommand"),
        Map.entry("reassign-partitions", "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"),
        Map.entry("client-metrics", "org.apache.kafka.tools.ClientMetricsCommand"));

    /** Unwinds the thread that asked to exit. */
    private static final class Ended extends RuntimeException {
        Ended() {
            super("exit", null, false, false);
        }
    }

    /**
     * What one run wrote and how it ended. After the first exit nothing more is taken: the real process would be gone, while here
     * handlers up the stack still run and may print.
     */
    private static final class Run {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private final ByteArrayOutputStream err = new ByteArrayOutputStream();
        private boolean ending;
        private Integer code;

        private final List<Thread> hooks = new CopyOnWriteArrayList<>();
        private final Set<Thread> before = new HashSet<>(jvmHooks().keySet());

        void exit(int status) {
            end(status);
            throw new Ended();
        }

        /** The first call runs the tool's shutdown hooks, whose output still counts, as a real exit does. */
        void end(int status) {
            synchronized (this) {
                if (code != null || ending) {
                    return;
                }
                ending = true;
            }
            Set<Thread> added = new HashSet<>(jvmHooks().keySet());
            added.removeAll(before);
            added.forEach(h -> jvmHooks().remove(h));
            hooks.addAll(added);
            hooks.forEach(Thread::start);
            for (Thread h : hooks) {
                try {
                    h.join(TimeUnit.SECONDS.toMillis(10));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            System.out.flush();
            System.err.flush();
            synchronized (this) {
                code = status;
            }
        }

        synchronized byte[] answer() {
            return new Out().i32(code).bytes(out.toByteArray()).bytes(err.toByteArray()).done();
        }

        PrintStream to(ByteArrayOutputStream buffer) {
            return new PrintStream(new OutputStream() {
                @Override
                public void write(int b) {
                    write(new byte[] {(byte) b}, 0, 1);
                }

                @Override
                public void write(byte[] b, int off, int len) {
                    synchronized (Run.this) {
                        if (code == null) {
                            buffer.write(b, off, len);
                        }
                    }
                }
            }, true, StandardCharsets.UTF_8);
        }
    }

    /** Request: tool or class name, stdin, timeout ms, arguments. Response: exit code (-1 timed out), stdout, stderr. */
    synchronized byte[] run(In in) throws Exception {
        String name = in.str();
        byte[] stdin = in.bytes();
        long timeoutMs = in.i64();
        List<String> args = new ArrayList<>();
        for (int n = in.i32(); n > 0; n--) {
            args.add(in.str());
        }
        Class<?> tool = Class.forName(MAIN.getOrDefault(name, name));
        PrintStream realOut = System.out;
        PrintStream realErr = System.err;
        InputStream realIn = System.in;
        Run run = new Run();
        try {
            System.setOut(run.to(run.out));
            System.setErr(run.to(run.err));
            System.setIn(new ByteArrayInputStream(stdin));
            Exit.setExitProcedure((status, message) -> run.exit(status));
            Exit.setHaltProcedure((status, message) -> run.exit(status));
            Exit.setShutdownHookAdder((hook, runnable) -> run.hooks.add(new Thread(runnable, hook)));
            Thread runner = new Thread(() -> run.end(main(tool, args)), "tool-" + name);
            runner.setDaemon(true);
            runner.start();
            runner.join(timeoutMs);
            if (runner.isAlive()) {
                run.end(-1);
                runner.interrupt();
                runner.join(TimeUnit.SECONDS.toMillis(10));
            }
            System.out.flush();
            System.err.flush();
        } finally {
            System.setOut(realOut);
            System.setErr(realErr);
            System.setIn(realIn);
            Exit.resetExitProcedure();
            Exit.resetHaltProcedure();
            Exit.resetShutdownHookAdder();
        }
        return run.answer();
    }

    /** The hooks that tools add with Runtime.addShutdownHook. The process is started with java.lang opened to us. */
    @SuppressWarnings("unchecked")
    private static Map<Thread, Thread> jvmHooks() {
        try {
            Field hooks = Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks");
            hooks.setAccessible(true);
            return (Map<Thread, Thread>) hooks.get(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int main(Class<?> tool, List<String> args) {
        try {
            tool.getMethod("main", String[].class).invoke(null, (Object) args.toArray(new String[0]));
            return 0;
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Ended) {
                return 1; // not taken: the exit itself said its code
            }
            System.err.println("Exception in thread \"main\" " + e.getCause());
            return 1;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
