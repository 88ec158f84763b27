package org.revenantdb.collections.value;

import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.ByteReader;
import org.revenantdb.collections.ByteWriter;
import org.revenantdb.collections.Codec;

/**
 * The bytes of a record of one version.
 *
 * <pre>
 * version       1 to 3 bytes, seven bits each
 * shape         2 bytes of a checksum of the names and types of all components
 * components    one after the other
 * </pre>
 *
 * <p>The shape protects a developer who changes a record and forgets to give it another version:
 * its rows are refused, and not misread.
 *
 * @param <R> type of the record
 */
public final class RecordFormat<R extends Record> {
  private final Class<R> type;
  private final int version;
  private final RecordBody<R> body;
  private final int shape;

  /** The format of a record of a version. */
  public RecordFormat(
      Class<R> type,
      int version,
      MethodHandles.@Nullable Lookup lookup,
      Map<Class<?>, Codec<?>> components) {
    this.type = type;
    this.version = version;
    this.body = new RecordBody<>(type, lookup, components, Set.of());
    CRC32C sum = new CRC32C();
    sum.update(body.shape().getBytes(StandardCharsets.UTF_8));
    this.shape = (int) sum.getValue() & 0xFFFF;
  }

  /** Writes a record. */
  public void write(R value, ByteWriter out) {
    out.writeVarLong(version);
    out.writeShort(shape);
    body.write(out, value);
  }

  /** Reads what follows the version. */
  public R read(ByteReader in) {
    if (in.readShort() != shape) {
      throw new IllegalArgumentException(
          "the components of "
              + type.getName()
              + " are not those that version "
              + version
              + " was written with; give the record another version, and the former one by"
              + " withFormer");
    }
    R value = body.read(in);
    if (in.remaining() > 0) {
      throw new IllegalArgumentException(
          in.remaining() + " bytes follow behind the record; the value is damaged");
    }
    return value;
  }
}
