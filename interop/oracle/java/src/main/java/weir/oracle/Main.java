package weir.oracle;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The oracle process. Requests come on stdin, answers leave on stdout, in any order.
 *
 * <pre>
 * request  = int32 length | int64 id | int8 operation | payload
 * response = int32 length | int64 id | int8 status (0 answered, 1 the oracle itself failed) | payload or stack trace
 * </pre>
 *
 * End of stdin ends the process. The first argument is the work directory.
 */
public final class Main {
    private record Response(long id, int status, byte[] payload) {
    }

    private Main() {
    }

    public static void main(String[] args) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 20));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 20));
        System.setOut(System.err);
        Path work = Path.of(args[0]);

        LinkedBlockingQueue<Response> answers = new LinkedBlockingQueue<>(4096);
        Thread writer = new Thread(() -> write(out, answers), "answers");
        writer.setDaemon(true);
        writer.start();

        Operations operations = new Operations(work);
        int cores = Runtime.getRuntime().availableProcessors();
        ExecutorService quick = Executors.newFixedThreadPool(cores);
        ExecutorService slow = Executors.newCachedThreadPool();
        while (true) {
            int length;
            try {
                length = in.readInt();
            } catch (EOFException e) {
                break;
            }
            long id = in.readLong();
            byte op = in.readByte();
            byte[] payload = new byte[length - 9];
            in.readFully(payload);
            (Operations.isQuick(op) ? quick : slow).execute(() -> {
                Response answer;
                try {
                    answer = new Response(id, 0, operations.run(op, payload));
                } catch (Throwable t) {
                    answer = new Response(id, 1, trace(t));
                }
                try {
                    answers.put(answer);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        operations.close();
        Runtime.getRuntime().halt(0);
    }

    private static byte[] trace(Throwable t) {
        StringWriter text = new StringWriter();
        t.printStackTrace(new PrintWriter(text));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void write(DataOutputStream out, LinkedBlockingQueue<Response> answers) {
        try {
            while (true) {
                Response next = answers.poll();
                if (next == null) {
                    out.flush();
                    next = answers.take();
                }
                out.writeInt(9 + next.payload.length);
                out.writeLong(next.id);
                out.writeByte(next.status);
                out.write(next.payload);
            }
        } catch (Exception e) {
            Runtime.getRuntime().halt(3);
        }
    }
}
