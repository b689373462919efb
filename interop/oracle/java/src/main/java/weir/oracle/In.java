package weir.oracle;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads the fields of one request payload: big endian, byte strings with an int32 length. */
final class In {
    private final ByteBuffer buf;

    In(byte[] payload) {
        buf = ByteBuffer.wrap(payload);
    }

    byte i8() {
        return buf.get();
    }

    boolean bool() {
        return buf.get() != 0;
    }

    short i16() {
        return buf.getShort();
    }

    int i32() {
        return buf.getInt();
    }

    long i64() {
        return buf.getLong();
    }

    byte[] bytes() {
        byte[] out = new byte[buf.getInt()];
        buf.get(out);
        return out;
    }

    String str() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }
}
