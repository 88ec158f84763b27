package org.revenantdb.cli;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.SequenceOrder;
import org.revenantdb.engine.admin.AdminReply;

/**
 * The binary form of a dump: smaller and faster than text, for values of any size, with a checksum.
 *
 * <pre>
 * dump      "RVDDUMP1" sequence* table* 'E' check
 * sequence  'S' name start:8 increment:8 cache:4 order position:8 check
 * table     'T' name partitions:4 row* check
 * row       'R' length:2 key length:8 value
 * check     'C' crc:4                              CRC32C of all bytes before it
 * name      length:2 UTF-8                         order as well, by its name
 * </pre>
 *
 * Numbers are big-endian. A reader gives a sequence or the end of a table out when its check is
 * right, so that no damaged row is committed.
 */
final class BinaryDump {
  static final byte[] MAGIC = "RVDDUMP1".getBytes(StandardCharsets.US_ASCII);

  private static final int SEQUENCE = 'S';
  private static final int TABLE = 'T';
  private static final int ROW = 'R';
  private static final int END = 'E';
  private static final int CHECK = 'C';

  private BinaryDump() {}

  /** Writes it. */
  static final class Output implements DumpOutput {
    private final CRC32C crc = new CRC32C();
    private final DataOutputStream out;
    private boolean isInTable;

    Output(OutputStream out) {
      this.out = new DataOutputStream(new CheckedOutputStream(out, crc));
    }

    @Override
    public void begin(int tables) throws IOException {
      out.write(MAGIC);
    }

    @Override
    public void sequence(AdminReply.SequenceEntry sequence) throws IOException {
      out.writeByte(SEQUENCE);
      name(sequence.name());
      out.writeLong(sequence.start());
      out.writeLong(sequence.increment());
      out.writeInt(sequence.cacheSize());
      name(sequence.order());
      out.writeLong(sequence.position());
      check();
    }

    @Override
    public void table(AdminReply.TableEntry table) throws IOException {
      endTable();
      isInTable = true;
      out.writeByte(TABLE);
      name(table.name());
      out.writeInt(table.partitions());
    }

    @Override
    public void row(byte[] key, long valueBytes, InputStream value) throws IOException {
      out.writeByte(ROW);
      out.writeShort(key.length);
      out.write(key);
      out.writeLong(valueBytes);
      value.transferTo(out);
    }

    private void endTable() throws IOException {
      if (isInTable) {
        check();
      }
    }

    private void check() throws IOException {
      out.writeByte(CHECK);
      out.writeInt((int) crc.getValue());
    }

    @Override
    public void end() throws IOException {
      endTable();
      out.writeByte(END);
      check();
      out.flush();
    }

    private void name(String name) throws IOException {
      byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
      out.writeShort(bytes.length);
      out.write(bytes);
    }
  }

  /** Reads it. */
  static final class Input implements DumpInput {
    private final CRC32C crc = new CRC32C();
    private final DataInputStream in;
    private long rows;
    private boolean isInTable;
    private @Nullable Value open;

    /** Begins with the first byte. */
    Input(InputStream in) throws IOException {
      this.in = new DataInputStream(new CheckedInputStream(in, crc));
      byte[] magic = this.in.readNBytes(MAGIC.length);
      if (!Arrays.equals(magic, MAGIC)) {
        throw new DumpException("this is no dump of RevenantDB");
      }
    }

    @Override
    public @Nullable DumpItem next() throws IOException {
      Value before = open;
      if (before != null && before.left > 0) {
        throw new IllegalStateException("the value of the row before has not been read");
      }
      try {
        return item();
      } catch (EOFException cut) {
        throw cut();
      }
    }

    private @Nullable DumpItem item() throws IOException {
      int kind = in.readUnsignedByte();
      if (kind == CHECK && isInTable) {
        demandCheck();
        isInTable = false;
        kind = in.readUnsignedByte();
      }
      if (isInTable != (kind == ROW)) {
        throw damaged("something else in place of a row or the end of a table");
      }
      return switch (kind) {
        case SEQUENCE -> sequence();
        case TABLE -> {
          isInTable = true;
          yield new DumpItem.OfTable(name(), in.readInt());
        }
        case ROW -> row();
        case END -> {
          check();
          yield null;
        }
        default -> throw damaged("an item of the unknown kind " + kind);
      };
    }

    private DumpItem sequence() throws IOException {
      String name = name();
      long start = in.readLong();
      long increment = in.readLong();
      int cacheSize = in.readInt();
      String order = name();
      long position = in.readLong();
      check();
      return new DumpItem.OfSequence(
          name,
          new SequenceOptions(start, increment, cacheSize, SequenceOrder.valueOf(order)),
          position);
    }

    private void check() throws IOException {
      if (in.readUnsignedByte() != CHECK) {
        throw damaged("no check where one belongs");
      }
      demandCheck();
    }

    private void demandCheck() throws IOException {
      int computed = (int) crc.getValue();
      if (in.readInt() != computed) {
        throw damaged("a check that does not fit what is before it");
      }
    }

    private DumpItem row() throws IOException {
      int length = in.readUnsignedShort();
      if (length == 0 || length > Database.MAX_KEY_BYTES) {
        throw damaged("a key of " + length + " bytes");
      }
      byte[] key = new byte[length];
      in.readFully(key);
      long bytes = in.readLong();
      if (bytes < 0 || bytes > Database.MAX_VALUE_BYTES) {
        throw damaged("a value of " + bytes + " bytes");
      }
      rows++;
      Value value = new Value(bytes);
      open = value;
      return new DumpItem.OfRow(key, value);
    }

    private String name() throws IOException {
      byte[] bytes = new byte[in.readUnsignedShort()];
      in.readFully(bytes);
      return new String(bytes, StandardCharsets.UTF_8);
    }

    private DumpException damaged(String found) {
      return new DumpException(
          "behind row " + rows + " the dump has " + found + ": it is damaged; take another copy");
    }

    private DumpException cut() {
      return new DumpException(
          "the dump ends behind row "
              + rows
              + ", and its last bytes are missing; take another copy");
    }

    /** The bytes of a value, out of those of the dump. */
    private final class Value extends InputStream {
      private long left;

      Value(long bytes) {
        left = bytes;
      }

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
      }

      @Override
      public int read(byte[] bytes, int offset, int count) throws IOException {
        if (left == 0) {
          return -1;
        }
        int read = in.read(bytes, offset, (int) Math.min(count, left));
        if (read < 0) {
          throw cut();
        }
        left -= read;
        return read;
      }
    }
  }
}
