package org.revenantdb.cli;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.SequenceOrder;
import org.revenantdb.engine.admin.AdminReply;

/**
 * The text form of a dump: that of the tools of LMDB ({@code mdb_dump -p}), which read it as well,
 * and of Berkeley DB, whose dumps can be loaded.
 *
 * <pre>
 * VERSION=3
 * format=print                   or bytevalue, for hexadecimal lines
 * type=btree
 * database=orders                the table
 * revenant.partitions=1
 * revenant.tables=2              in the first section: how many sections follow in all
 * revenant.sequence=1 1 32 ORDERED 4711 order-ids
 *                                in the first section, one line each: start, increment, cache size, order, position, name
 * HEADER=END
 *  key                           each line begins with a blank; \xx is a byte, \\ a backslash
 *  value
 * DATA=END
 * </pre>
 *
 * A database without tables has one section without {@code database}.
 */
final class TextDump {
  static final String FIRST_LINE = "VERSION=";

  private static final String DATABASE = "database=";
  private static final String PARTITIONS = "revenant.partitions=";
  private static final String TABLES = "revenant.tables=";
  private static final String SEQUENCE = "revenant.sequence=";
  private static final String FORMAT = "format=";
  private static final String HEADER_END = "HEADER=END";
  private static final String DATA_END = "DATA=END";

  private TextDump() {}

  /** Writes it. */
  static final class Output implements DumpOutput {
    private final Writer out;
    private final List<String> first = new ArrayList<>();
    private boolean isInTable;

    Output(Writer out) {
      this.out = out;
    }

    @Override
    public void begin(int tables) {
      first.add(TABLES + tables);
    }

    @Override
    public void sequence(AdminReply.SequenceEntry sequence) {
      first.add(
          SEQUENCE
              + "%d %d %d %s %d %s"
                  .formatted(
                      sequence.start(),
                      sequence.increment(),
                      sequence.cacheSize(),
                      sequence.order(),
                      sequence.position(),
                      Escapes.shown(sequence.name())));
    }

    @Override
    public void table(AdminReply.TableEntry table) throws IOException {
      endTable();
      header(DATABASE + Escapes.shown(table.name()), PARTITIONS + table.partitions());
      isInTable = true;
    }

    private void header(String... lines) throws IOException {
      out.write("VERSION=3\nformat=print\ntype=btree\n");
      for (String line : lines) {
        out.write(line + "\n");
      }
      for (String line : first) {
        out.write(line + "\n");
      }
      first.clear();
      out.write(HEADER_END + "\n");
    }

    @Override
    public void row(byte[] key, long valueBytes, InputStream value) throws IOException {
      out.write(" " + Escapes.escaped(key) + "\n " + Escapes.escaped(value.readAllBytes()) + "\n");
    }

    private void endTable() throws IOException {
      if (isInTable) {
        out.write(DATA_END + "\n");
      }
    }

    @Override
    public void end() throws IOException {
      endTable();
      if (!isInTable) {
        header();
        out.write(DATA_END + "\n");
      }
      out.flush();
    }
  }

  /** Reads it. */
  static final class Input implements DumpInput {
    private final BufferedReader in;
    private final @Nullable String nameOfUnnamed;
    private final Queue<DumpItem> header = new ArrayDeque<>();
    private long line;
    private long sections;
    private long expected = -1;
    private boolean isInData;
    private boolean isHex;

    /**
     * Begins with the first line.
     *
     * @param nameOfUnnamed the table for the rows of a section that names none; null to refuse them
     */
    Input(InputStream in, @Nullable String nameOfUnnamed) {
      this.in = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
      this.nameOfUnnamed = nameOfUnnamed;
    }

    @Override
    public @Nullable DumpItem next() throws IOException {
      while (true) {
        DumpItem item = header.poll();
        if (item != null) {
          return item;
        }
        if (!isInData) {
          if (!readHeader()) {
            return null;
          }
          continue;
        }
        String key = demandLine();
        if (key.equals(DATA_END)) {
          isInData = false;
          continue;
        }
        String value = demandLine();
        return new DumpItem.OfRow(bytes(key), new ByteArrayInputStream(bytes(value)));
      }
    }

    /** Reads the lines before the rows of a section; false at the end of the dump. */
    private boolean readHeader() throws IOException {
      String text = readLine();
      if (text == null) {
        if (expected >= 0 && sections < expected) {
          throw new DumpException(
              "the dump ends behind line %d with %d of its %d tables; take another copy"
                  .formatted(line, sections, expected));
        }
        return false;
      }
      if (!text.startsWith(FIRST_LINE)) {
        throw wrong("a header that begins with " + FIRST_LINE);
      }
      String name = null;
      int partitions = 1;
      isHex = true; // what the tools mean without a format line
      for (text = demandLine(); !text.equals(HEADER_END); text = demandLine()) {
        if (text.startsWith(DATABASE)) {
          name = text(text.substring(DATABASE.length()));
        } else if (text.startsWith(PARTITIONS)) {
          partitions = small(text.substring(PARTITIONS.length()));
        } else if (text.startsWith(TABLES)) {
          expected = number(text.substring(TABLES.length()));
        } else if (text.startsWith(SEQUENCE)) {
          header.add(sequence(text.substring(SEQUENCE.length())));
        } else if (text.startsWith(FORMAT)) {
          isHex = !text.equals(FORMAT + "print");
        } // the other lines, as mapsize, mean something to other tools
      }
      isInData = true;
      if (name == null) {
        name = expected == 0 ? null : nameOfUnnamed;
        if (name == null && expected != 0) {
          throw new DumpException(
              "the section at line " + line + " has no table name; give one with --table");
        }
      }
      if (name != null) {
        sections++;
        header.add(new DumpItem.OfTable(name, partitions));
      }
      return true;
    }

    private DumpItem sequence(String text) {
      String[] parts = text.split(" ", 6);
      if (parts.length < 6) {
        throw wrong("six parts of a sequence");
      }
      SequenceOrder order;
      try {
        order = SequenceOrder.valueOf(parts[3]);
      } catch (IllegalArgumentException unknown) {
        throw wrong("an order of a sequence in place of " + parts[3]);
      }
      SequenceOptions options =
          new SequenceOptions(number(parts[0]), number(parts[1]), small(parts[2]), order);
      return new DumpItem.OfSequence(text(parts[5]), options, number(parts[4]));
    }

    private long number(String text) {
      try {
        return Long.parseLong(text);
      } catch (NumberFormatException wrong) {
        throw wrong("a number in place of " + text);
      }
    }

    private int small(String text) {
      long number = number(text);
      if (number != (int) number) {
        throw wrong("a smaller number in place of " + text);
      }
      return (int) number;
    }

    private String text(String escaped) {
      return new String(unescaped(escaped), StandardCharsets.UTF_8);
    }

    private byte[] bytes(String text) {
      if (!text.startsWith(" ")) {
        throw wrong("a blank, and a key or value behind it");
      }
      String data = text.substring(1);
      return isHex ? hex(data) : unescaped(data);
    }

    private byte[] hex(String text) {
      try {
        return HexFormat.of().parseHex(text);
      } catch (IllegalArgumentException notHex) {
        throw wrong("hexadecimal digits");
      }
    }

    private byte[] unescaped(String text) {
      try {
        return Escapes.bytes(text);
      } catch (NotationException noEscape) {
        throw new DumpException("line " + line + ": " + noEscape.getMessage());
      }
    }

    private @Nullable String readLine() throws IOException {
      String text = in.readLine();
      line += text == null ? 0 : 1;
      return text;
    }

    private String demandLine() throws IOException {
      String text = readLine();
      if (text == null) {
        throw new DumpException(
            "the dump ends behind line "
                + line
                + " in the middle of a table; take another copy, or dump again");
      }
      return text;
    }

    private DumpException wrong(String expected) {
      return new DumpException("line " + line + " of the dump is damaged: expected " + expected);
    }
  }
}
