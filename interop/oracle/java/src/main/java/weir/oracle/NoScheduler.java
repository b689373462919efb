package weir.oracle;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.server.util.Scheduler;

/** Takes tasks and runs none by itself: nothing happens behind the caller's back. */
final class NoScheduler implements Scheduler {
    private final Queue<Runnable> deletions = new ConcurrentLinkedQueue<>();

    /** Runs the deletions of files that were put off so far. */
    void delete() {
        for (Runnable r = deletions.poll(); r != null; r = deletions.poll()) {
            r.run();
        }
    }

    @Override
    public void startup() {
    }

    @Override
    public void shutdown() {
    }

    @Override
    public void resizeThreadPool(int size) {
    }

    @Override
    public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        if (name.startsWith("delete-")) {
            deletions.add(task);
        }
        return new Never();
    }

    private static final class Never implements ScheduledFuture<Object> {
        @Override
        public long getDelay(TimeUnit unit) {
            return Long.MAX_VALUE;
        }

        @Override
        public int compareTo(Delayed o) {
            return 0;
        }

        @Override
        public boolean cancel(boolean interrupt) {
            return true;
        }

        @Override
        public boolean isCancelled() {
            return true;
        }

        @Override
        public boolean isDone() {
            return true;
        }

        @Override
        public Object get() {
            return null;
        }

        @Override
        public Object get(long timeout, TimeUnit unit) {
            return null;
        }
    }
}
