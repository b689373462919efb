package weir.oracle;

import java.nio.file.Path;

/** The operations by number; the Go driver holds the same list. */
final class Operations implements AutoCloseable {
    static final byte PING = 0;
    static final byte VALIDATE = 1;
    static final byte PRODUCER = 2;
    static final byte OPEN_LOG = 3;
    static final byte CONFIGS = 4;
    static final byte CHECK_CONFIG = 5;
    static final byte TOOL = 6;
    static final byte BROKER_START = 7;
    static final byte BROKER_STOP = 8;
    static final byte ASSIGN = 9;
    static final byte GROUP_RECORD = 10;
    static final byte GROUPS = 11;
    static final byte RECONCILE = 12;
    static final byte CLEAN = 13;

    private final Validation validation;
    private final Producers producers;
    private final Logs logs;
    private final Cleaning cleaning;
    private final Tools tools;
    private final Brokers brokers;

    Operations(Path work) throws Exception {
        validation = new Validation(work.resolve("validation"));
        producers = new Producers(work.resolve("producers"));
        logs = new Logs();
        cleaning = new Cleaning();
        tools = new Tools();
        brokers = new Brokers();
    }

    static boolean isQuick(byte op) {
        return op == VALIDATE || op == PRODUCER || op == ASSIGN || op == GROUP_RECORD || op == GROUPS || op == RECONCILE || op == CLEAN;
    }

    byte[] run(byte op, byte[] payload) throws Exception {
        return switch (op) {
            case PING -> payload;
            case VALIDATE -> validation.run(new In(payload));
            case PRODUCER -> producers.run(new In(payload));
            case OPEN_LOG -> logs.open(payload);
            case CLEAN -> cleaning.run(payload);
            case CONFIGS -> Configs.tables();
            case CHECK_CONFIG -> Configs.check(payload);
            case TOOL -> tools.run(new In(payload));
            case BROKER_START -> brokers.start(payload);
            case BROKER_STOP -> brokers.stop(payload);
            case ASSIGN -> Assignors.run(new In(payload));
            case GROUP_RECORD -> Groups.record(new In(payload));
            case GROUPS -> Groups.play(new In(payload));
            case RECONCILE -> Reconciler.run(new In(payload));
            default -> throw new IllegalArgumentException("unknown operation " + op);
        };
    }

    @Override
    public void close() {
        brokers.close();
    }
}
