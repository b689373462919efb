package weir.oracle;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** A clock that stands where it was put. */
final class Clock implements Time {
    private volatile long nowMs;

    Clock(long nowMs) {
        this.nowMs = nowMs;
    }

    void set(long nowMs) {
        this.nowMs = nowMs;
    }

    @Override
    public long milliseconds() {
        return nowMs;
    }

    @Override
    public long nanoseconds() {
        return nowMs * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
        throw new IllegalStateException("an explicit clock does not sleep");
    }

    @Override
    public void waitObject(Object lock, Supplier<Boolean> condition, long deadlineMs) {
        throw new IllegalStateException("an explicit clock does not wait");
    }
}
