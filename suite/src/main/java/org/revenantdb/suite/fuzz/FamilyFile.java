package org.revenantdb.suite.fuzz;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.FileContent;

/** A family in a file, so that all children open variants of exactly the same bytes. */
final class FamilyFile {
  /*
   * Equal blocks are written once, and so are tables that a commit has not changed. When read,
   * equal blocks become one block again, because moments of one database share most of their
   * content.
   */

  private static final int MAGIC = 0x46555A33;
  private static final int BLOCK = FileContent.BLOCK;

  private FamilyFile() {}

  /** Writes the file in one step. */
  static void write(Family family, Path file) throws IOException {
    Path beside = file.resolveSibling(file.getFileName() + "." + ProcessHandle.current().pid());
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(beside), 1 << 16))) {
      out.writeInt(MAGIC);
      Map<ByteBuffer, Integer> blocks = new HashMap<>();
      IdentityHashMap<SortedMap<String, Long>, Integer> tables = new IdentityHashMap<>();
      out.writeInt(family.moments().size());
      for (Moment moment : family.moments()) {
        out.writeUTF(moment.name());
        out.writeBoolean(moment.closed());
        writeImage(out, moment.image(), blocks);
        out.writeInt(moment.states().size());
        for (State state : moment.states()) {
          writeState(out, state, tables);
        }
      }
    }
    Files.move(beside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void writeImage(
      DataOutputStream out, DiskImage image, Map<ByteBuffer, Integer> blocks) throws IOException {
    SortedMap<String, Integer> paths = image.paths();
    out.writeInt(paths.size());
    for (Map.Entry<String, Integer> path : paths.entrySet()) {
      out.writeUTF(path.getKey());
      boolean isDirectory = image.isDirectory(path.getValue());
      out.writeBoolean(isDirectory);
      if (!isDirectory) {
        writeContent(out, image.file(path.getValue()), blocks);
      }
    }
  }

  private static void writeContent(
      DataOutputStream out, FileContent content, Map<ByteBuffer, Integer> blocks)
      throws IOException {
    out.writeLong(content.size());
    for (long at = 0; at < content.size(); at += BLOCK) {
      ByteBuffer block = ByteBuffer.wrap(content.bytes(at, BLOCK));
      Integer known = blocks.get(block);
      out.writeInt(known == null ? -1 : known);
      if (known == null) {
        out.write(block.array());
        blocks.put(block, blocks.size());
      }
    }
  }

  private static void writeState(
      DataOutputStream out, State state, IdentityHashMap<SortedMap<String, Long>, Integer> tables)
      throws IOException {
    out.writeInt(state.prepared().size());
    for (String name : state.prepared()) {
      out.writeUTF(name);
    }
    out.writeInt(state.tables().size());
    for (Map.Entry<String, SortedMap<String, Long>> table : state.tables().entrySet()) {
      out.writeUTF(table.getKey());
      Integer known = tables.get(table.getValue());
      out.writeInt(known == null ? -1 : known);
      if (known == null) {
        tables.put(table.getValue(), tables.size());
        out.writeInt(table.getValue().size());
        for (Map.Entry<String, Long> row : table.getValue().entrySet()) {
          out.writeUTF(row.getKey());
          out.writeLong(row.getValue());
        }
      }
    }
    out.writeInt(state.numbers().size());
    for (Map.Entry<String, Long> number : state.numbers().entrySet()) {
      out.writeUTF(number.getKey());
      out.writeLong(number.getValue());
    }
  }

  /** Reads it. */
  static Family read(Path file) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 16))) {
      if (in.readInt() != MAGIC) {
        throw new IOException(file + " is not a family of databases of this fuzzer");
      }
      List<Block> blocks = new ArrayList<>();
      List<SortedMap<String, Long>> tables = new ArrayList<>();
      List<Moment> moments = new ArrayList<>();
      int count = in.readInt();
      for (int i = 0; i < count; i++) {
        String name = in.readUTF();
        boolean closed = in.readBoolean();
        DiskImage image = readImage(in, blocks);
        List<State> states = new ArrayList<>();
        int n = in.readInt();
        for (int s = 0; s < n; s++) {
          states.add(readState(in, tables));
        }
        moments.add(new Moment(name, closed, image, states));
      }
      return new Family(moments);
    }
  }

  /** The place of a block that others are equal to. */
  private record Block(FileContent content, int index) {}

  private static DiskImage readImage(DataInputStream in, List<Block> blocks) throws IOException {
    DiskImage image = new DiskImage();
    Map<String, Integer> directories = new HashMap<>();
    directories.put("", DiskImage.ROOT);
    int count = in.readInt();
    for (int node = 1; node <= count; node++) {
      String path = in.readUTF();
      boolean isDirectory = in.readBoolean();
      image.create(node, isDirectory);
      int slash = path.lastIndexOf('/');
      String parent = slash < 0 ? "" : path.substring(0, slash);
      image.link(directories.getOrDefault(parent, DiskImage.ROOT), path.substring(slash + 1), node);
      if (isDirectory) {
        directories.put(path, node);
      } else {
        readContent(in, image.file(node), blocks);
      }
    }
    return image;
  }

  private static void readContent(DataInputStream in, FileContent content, List<Block> blocks)
      throws IOException {
    long size = in.readLong();
    content.setSize(size);
    byte[] bytes = new byte[BLOCK];
    for (int i = 0; (long) i * BLOCK < size; i++) {
      int known = in.readInt();
      int length = (int) Math.min(BLOCK, size - (long) i * BLOCK);
      if (known < 0) {
        in.readFully(bytes);
        content.write((long) i * BLOCK, ByteBuffer.wrap(bytes, 0, length));
        blocks.add(new Block(content, i));
      } else if (blocks.get(known).index() == i) {
        content.share(blocks.get(known).content(), i); // zeros behind the end on both sides
      } else {
        Block same = blocks.get(known);
        byte[] there = same.content().bytes((long) same.index() * BLOCK, length);
        content.write((long) i * BLOCK, ByteBuffer.wrap(there));
      }
    }
  }

  private static State readState(DataInputStream in, List<SortedMap<String, Long>> known)
      throws IOException {
    TreeSet<String> prepared = new TreeSet<>();
    int names = in.readInt();
    for (int i = 0; i < names; i++) {
      prepared.add(in.readUTF());
    }
    SortedMap<String, SortedMap<String, Long>> tables = new TreeMap<>();
    int count = in.readInt();
    for (int i = 0; i < count; i++) {
      String name = in.readUTF();
      int index = in.readInt();
      if (index < 0) {
        SortedMap<String, Long> rows = new TreeMap<>();
        int n = in.readInt();
        for (int r = 0; r < n; r++) {
          rows.put(in.readUTF(), in.readLong());
        }
        index = known.size();
        known.add(rows);
      }
      tables.put(name, known.get(index));
    }
    SortedMap<String, Long> numbers = new TreeMap<>();
    for (int n = in.readInt(); n > 0; n--) {
      numbers.put(in.readUTF(), in.readLong());
    }
    return new State(tables, prepared, numbers);
  }
}
