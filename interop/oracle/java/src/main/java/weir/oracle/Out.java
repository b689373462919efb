package weir.oracle;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Collects the fields of one response payload, in the form that {@link In} reads. */
final class Out {
    private final ByteArrayOutputStream to = new ByteArrayOutputStream(256);

    Out i8(int v) {
        to.write(v);
        return this;
    }

    Out bool(boolean v) {
        return i8(v ? 1 : 0);
    }

    Out i16(int v) {
        return i8(v >> 8).i8(v);
    }

    Out i32(int v) {
        return i16(v >> 16).i16(v);
    }

    Out i64(long v) {
        return i32((int) (v >> 32)).i32((int) v);
    }

    /** The elements only, without their number. */
    Out i32s(int[] vs) {
        ByteBuffer b = ByteBuffer.allocate(4 * vs.length);
        b.asIntBuffer().put(vs);
        to.write(b.array(), 0, b.capacity());
        return this;
    }

    /** A null byte string has length -1. */
    Out bytes(byte[] v) {
        if (v == null) {
            return i32(-1);
        }
        i32(v.length);
        to.write(v, 0, v.length);
        return this;
    }

    Out bytes(ByteBuffer v) {
        if (v == null) {
            return i32(-1);
        }
        byte[] b = new byte[v.remaining()];
        v.duplicate().get(b);
        return bytes(b);
    }

    Out str(String v) {
        return bytes((v == null ? "" : v).getBytes(StandardCharsets.UTF_8));
    }

    byte[] done() {
        return to.toByteArray();
    }
}
