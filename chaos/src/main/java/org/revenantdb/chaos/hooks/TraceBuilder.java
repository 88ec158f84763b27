package org.revenantdb.chaos.hooks;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.chaos.oracle.PromiseEvent;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Operation.Origin;
import org.revenantdb.chaos.trace.Trace;

/**
 * Turns a {@link Tape} into a {@link Trace}: inodes become nodes, paths become entries of
 * directories.
 *
 * <p>Threads: one.
 */
final class TraceBuilder {
  /*
   * The records are in the order of their effects, except that a force is recorded when it returns.
   * The builder carries every operation out on an image. The image shows which file a path refers
   * to, and what a page contains.
   *
   * msync of a range that has all changes of a file since its last force is a force of the file. Of
   * any other range each changed page becomes a synchronous write of itself.
   */

  private static final int EXCHANGE = 2;
  private static final int KEEP_SIZE = 1;
  private static final int PUNCH_HOLE = 2;
  private static final int ZERO_RANGE = 0x10;
  private static final long MOST_ZEROS = 1 << 26;

  private final Tape tape;
  private final String root;
  private final long finish;
  private final DiskImage image = new DiskImage();
  private final Map<Long, Integer> byInode = new HashMap<>();
  private final Map<Integer, TreeMap<Long, Long>> changed = new HashMap<>();
  private final Map<Integer, CallStack> stacks = new HashMap<>();
  private final Map<Integer, String> threads = new HashMap<>();
  private final List<Operation> operations = new ArrayList<>();
  private final TreeMap<Long, Long> looks = new TreeMap<>();
  private final List<PromiseEvent> promises = new ArrayList<>();
  private final Map<Long, CallStack> madeIn = new HashMap<>();
  private final List<PromiseEvent> laterPromises = new ArrayList<>();
  private long laterFrom = Long.MAX_VALUE;
  private long lastPlace;
  private final Set<String> gaps = new LinkedHashSet<>();
  private final Set<Integer> mapped = new HashSet<>();
  private int lastNode = DiskImage.ROOT;
  private long inFlight = -1;
  private boolean cleanedInPart;

  /**
   * Prepares to read a tape that is no longer written to.
   *
   * @param tape the record
   * @param root the directory
   * @param finish how many bytes of an operation that was begun and not ended count as carried out;
   *     -1: it does not count at all
   */
  TraceBuilder(Tape tape, String root, long finish) {
    this.tape = tape;
    this.root = root;
    this.finish = finish;
  }

  /** Reads the whole tape. */
  TraceBuilder read() {
    byInode.put(0L, -1);
    long end = tape.end();
    for (long at = Tape.RECORDS; at < end; at += tape.getInt(at)) {
      record(at);
    }
    return this;
  }

  Trace trace() {
    List<Operation> sorted =
        operations.stream().sorted(Comparator.comparingLong(Operation::seq)).toList();
    return new Trace(new DiskImage(), sorted, List.copyOf(gaps), List.of(), looks);
  }

  /** Whether the pages of a part of a file count as clean, which the trace does not show. */
  boolean cleanedInPart() {
    return cleanedInPart;
  }

  List<PromiseEvent> promises() {
    return promises;
  }

  /** The stacks of the promises, by their place. */
  Map<Long, CallStack> madeIn() {
    return madeIn;
  }

  /** What the subject owes from {@link #laterFrom} on. */
  List<PromiseEvent> laterPromises() {
    return laterPromises;
  }

  /** Where a life began on the files that another process had left. */
  long laterFrom() {
    return laterFrom;
  }

  private static long place(PromiseEvent event) {
    return switch (event) {
      case PromiseEvent.OfWrite(PromiseEvent.By by, _, _, _) -> by.place();
      case PromiseEvent.OfGroup(PromiseEvent.By by, _, _) -> by.place();
      case PromiseEvent.Put(PromiseEvent.By by, _, _, _) -> by.place();
      case PromiseEvent.AllDurable(PromiseEvent.By by) -> by.place();
      case PromiseEvent.Crash _ -> 0;
    };
  }

  /** The stack of the first fault. */
  CallStack struckIn() {
    return stacks.getOrDefault(tape.struckIn(), CallStack.UNKNOWN);
  }

  /** The greatest place of a record or of a promise. */
  long lastPlace() {
    return lastPlace;
  }

  /** The length of the operation that was begun and not ended, or -1 if there is none. */
  long inFlight() {
    return inFlight;
  }

  /** The paths of the files that were mapped for writing. */
  Set<String> mappedPaths() {
    Set<String> paths = new HashSet<>();
    image
        .paths()
        .forEach((path, node) -> {
          if (mapped.contains(node)) {
            paths.add(path);
          }
        });
    return paths;
  }

  private static List<PromiseEvent> former(byte[] log) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(log))) {
      return PromiseLog.readFrom(in).events();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void record(long at) {
    int kind = tape.getInt(at + 4);
    lastPlace = Math.max(lastPlace, tape.getLong(at + 8));
    switch (kind) {
      case Tape.STACK -> stacks.put(tape.getInt(at + 28), stack(text(at)));
      case Tape.THREAD -> threads.put(tape.getInt(at + 28), text(at));
      case Tape.PROMISE -> {
        PromiseEvent event = PromiseEvent.decode(ByteBuffer.wrap(data(at)));
        lastPlace = Math.max(lastPlace, place(event));
        madeIn.put(place(event), stacks.getOrDefault(tape.getInt(at + 28), CallStack.UNKNOWN));
        (laterFrom == Long.MAX_VALUE ? promises : laterPromises).add(event);
      }
      case Tape.LIFE -> {
        laterFrom = tape.getLong(at + 8);
        laterPromises.addAll(former(data(at)));
      }
      case Tape.LOOK -> looks.put(tape.getLong(at + Tape.A), tape.getLong(at + Tape.B));
      case Tape.ROOT -> byInode.put(tape.getLong(at + Tape.A), DiskImage.ROOT);
      case Tape.GAP ->
          gaps.add(
              (new String(data(at), StandardCharsets.UTF_8)
                      + ": "
                      + text(at)
                      + "\n"
                      + origin(at, 0).stack().text())
                  .strip());
      default -> operation(at, kind);
    }
  }

  private void operation(long at, int kind) {
    long result = tape.getLong(at + 40);
    if (tape.getInt(at + 32) == Tape.BEGUN) {
      inFlight = kind == Tape.WRITE ? tape.getInt(at + 80) : 0;
      if (finish < 0) {
        return;
      }
      result = kind == Tape.WRITE ? finish : 0;
    }
    if (result == Tape.CLEANED) {
      cleaned(at, kind);
    }
    if (result < 0) {
      return;
    }
    long a = tape.getLong(at + Tape.A);
    long b = tape.getLong(at + Tape.B);
    long c = tape.getLong(at + Tape.C);
    long d = tape.getLong(at + Tape.D);
    switch (kind) {
      case Tape.OPEN -> opened(at, a, b, c != 0, d);
      case Tape.WRITE -> written(at, result, a, b, d);
      case Tape.FSYNC -> forced(at, (int) result, a, b, c != 0);
      case Tape.MSYNC -> memoryForced(at, (int) result, a, b, c, d);
      case Tape.FTRUNCATE -> sized(at, (int) result, a, d, b);
      case Tape.FALLOCATE -> allocated(at, (int) result, a, b, c, (int) d & 0xFF, d >> 8);
      case Tape.RENAME -> renamed(at, (int) result, b);
      case Tape.LINK -> linked(at, (int) result);
      case Tape.UNLINK -> unlinked(at, (int) result);
      case Tape.MKDIR -> {
        if ((int) result == 0) {
          created(at, a, /* directory= */ true, text(at));
        }
      }
      case Tape.MMAP -> {
        Integer node = byInode.get(a);
        if (node != null) {
          mapped.add(node);
        }
      }
      default -> throw new IllegalStateException("no operation is recorded as " + kind);
    }
  }

  private void opened(long at, long inode, long flags, boolean existed, long size) {
    if ((flags & Tape.CREAT) != 0 && !existed) {
      created(at, inode, /* directory= */ false, text(at));
    } else if ((flags & Tape.TRUNC) != 0 && size > 0) {
      Integer node = byInode.get(inode);
      if (node != null && image.exists(node)) {
        truncated(at, node, 0);
      }
    }
  }

  /** A parent directory, its entry's name, and what the entry names. */
  private record Entry(int parent, String name, @Nullable Integer node) {}

  private @Nullable Entry entry(String path) {
    if (!path.startsWith(root + "/")) {
      gaps.add("a name was moved between the directory and the rest of the disk: " + path);
      return null;
    }
    String[] names = path.substring(root.length() + 1).split("/", -1);
    int parent = DiskImage.ROOT;
    for (int i = 0; i < names.length - 1; i++) {
      Integer next = image.lookup(parent, names[i]);
      if (next == null || !image.isDirectory(next)) {
        gaps.add("an operation on a path that the trace does not know: " + path);
        return null;
      }
      parent = next;
    }
    String name = names[names.length - 1];
    return new Entry(parent, name, image.lookup(parent, name));
  }

  private void created(long at, long inode, boolean directory, String path) {
    Entry entry = entry(path);
    if (entry == null) {
      return;
    }
    if (entry.node != null) {
      gaps.add("a file was created that the trace knows already: " + path);
      return;
    }
    int node = ++lastNode;
    image.create(node, directory);
    image.link(entry.parent, entry.name, node);
    byInode.put(inode, node);
    changed.remove(node);
    operations.add(new Operation.Create(origin(at), node, directory, entry.parent, entry.name));
  }

  private @Nullable Integer file(long inode) {
    Integer node = byInode.get(inode);
    return node == null || node < 0 || !image.exists(node) || image.isDirectory(node) ? null : node;
  }

  private void written(long at, long result, long inode, long offset, long sync) {
    Integer node = file(inode);
    if (node == null || result == 0) {
      return;
    }
    byte[] bytes = new byte[(int) result];
    MemorySegment.copy(
        tape.memory(), ValueLayout.JAVA_BYTE, at + Tape.HEADER, bytes, 0, bytes.length);
    Origin origin = origin(at);
    write(origin, node, offset, bytes);
    if (sync != 0) {
      Origin of = origin(at, origin.seq() + 1);
      operations.add(new Operation.Force(of, node, of.seq(), sync == 2, origin.seq()));
    }
  }

  private void write(Origin origin, int node, long offset, byte[] bytes) {
    image.file(node).write(offset, ByteBuffer.wrap(bytes));
    operations.add(new Operation.Write(origin, node, offset, bytes));
    TreeMap<Long, Long> pages = changed.computeIfAbsent(node, _ -> new TreeMap<>());
    for (long page = offset / Mappings.PAGE; page * Mappings.PAGE < offset + bytes.length; page++) {
      pages.put(page, origin.seq());
    }
  }

  private void truncated(long at, int node, long size) {
    image.file(node).setSize(size);
    operations.add(new Operation.Truncate(origin(at), node, size));
  }

  private void sized(long at, int result, long inode, long before, long size) {
    Integer node = file(inode);
    if (result != 0 || node == null) {
      return;
    }
    if (size < before) {
      truncated(at, node, size);
    } else if (size > before) {
      write(origin(at), node, size - 1, new byte[1]);
    }
  }

  private void allocated(
      long at, int result, long inode, long offset, long length, int mode, long before) {
    Integer node = file(inode);
    if (result != 0 || node == null) {
      return;
    }
    long end = offset + length;
    boolean zeros = (mode & (PUNCH_HOLE | ZERO_RANGE)) != 0;
    if ((mode & ~(KEEP_SIZE | PUNCH_HOLE | ZERO_RANGE)) != 0) {
      gaps.add("a range of a file was collapsed or inserted (fallocate)");
    } else if (zeros) {
      long to = (mode & KEEP_SIZE) != 0 ? Math.min(end, before) : end;
      if (to - offset > MOST_ZEROS) {
        gaps.add("fallocate made a very large range zero");
      } else if (to > offset) {
        write(origin(at), node, offset, new byte[(int) (to - offset)]);
      }
    } else if ((mode & KEEP_SIZE) == 0 && end > before) {
      write(origin(at), node, end - 1, new byte[1]);
    }
  }

  private void forced(long at, int result, long inode, long since, boolean metadata) {
    if (result != 0) {
      return;
    }
    if (inode != -1) {
      Integer node = byInode.get(inode);
      if (node != null && node >= 0) {
        force(origin(at), node, since, metadata);
      }
      return;
    }
    long place = tape.getLong(at + 8);
    for (int node : new HashSet<>(byInode.values())) {
      if (node >= 0) {
        force(origin(at, place++), node, since, metadata);
      }
    }
  }

  private void force(Origin origin, int node, long since, boolean metadata) {
    operations.add(new Operation.Force(origin, node, since, metadata));
    TreeMap<Long, Long> pages = changed.get(node);
    if (pages != null) {
      pages.values().removeIf(place -> place < since);
    }
  }

  /**
   * A force failed, and its pages count as clean. The model cannot say so of a part of a file, so a
   * force of a part while others have changes makes {@link #cleanedInPart}.
   */
  private void cleaned(long at, int kind) {
    long inode = tape.getLong(at + Tape.A);
    long since = tape.getLong(at + Tape.B);
    if (kind == Tape.FSYNC && inode == -1) {
      long place = tape.getLong(at + 8);
      for (int node : new HashSet<>(byInode.values())) {
        if (node >= 0) {
          clean(origin(at, place++), node, since);
        }
      }
      return;
    }
    Integer node = byInode.get(inode);
    if (node == null || node < 0) {
      return;
    }
    if (kind == Tape.MSYNC) {
      TreeMap<Long, Long> pages = changed.computeIfAbsent(node, _ -> new TreeMap<>());
      long first = tape.getLong(at + Tape.C) / Mappings.PAGE;
      long last = (tape.getLong(at + Tape.D) + Mappings.PAGE - 1) / Mappings.PAGE;
      if (!pages.headMap(first).isEmpty() || !pages.tailMap(last).isEmpty()) {
        cleanedInPart = true;
        return;
      }
    }
    clean(origin(at), node, since);
  }

  private void clean(Origin origin, int node, long since) {
    operations.add(new Operation.ForceFailed(origin, node, since));
    TreeMap<Long, Long> pages = changed.get(node);
    if (pages != null) {
      pages.values().removeIf(place -> place < since);
    }
  }

  private void memoryForced(long at, int result, long inode, long since, long from, long to) {
    Integer node = file(inode);
    if (result != 0 || node == null) {
      return;
    }
    TreeMap<Long, Long> pages = changed.computeIfAbsent(node, _ -> new TreeMap<>());
    long first = from / Mappings.PAGE;
    long last = (to + Mappings.PAGE - 1) / Mappings.PAGE;
    if (pages.headMap(first).isEmpty() && pages.tailMap(last).isEmpty()) {
      force(origin(at), node, since, /* metadata= */ false);
      return;
    }
    FileContent content = image.file(node);
    long place = tape.getLong(at + 8);
    for (long page : List.copyOf(pages.subMap(first, last).keySet())) {
      long begin = page * Mappings.PAGE;
      int length = (int) Math.min(Mappings.PAGE, content.size() - begin);
      if (length > 0) {
        Origin origin = origin(at, place++);
        write(origin, node, begin, content.bytes(begin, length));
        Origin of = origin(at, place++);
        operations.add(new Operation.Force(of, node, of.seq(), false, origin.seq()));
      }
      pages.remove(page);
    }
  }

  private void renamed(long at, int result, long flags) {
    String[] paths = text(at).split("\0", 2);
    if (result != 0) {
      return;
    }
    if ((flags & EXCHANGE) != 0) {
      gaps.add("two names were exchanged (renameat2): " + paths[0]);
      return;
    }
    Entry from = entry(paths[0]);
    Entry to = entry(paths[1]);
    if (from == null || to == null) {
      return;
    }
    if (from.node == null) {
      gaps.add("a file was renamed that the trace does not know: " + paths[0]);
      return;
    }
    if (from.node.equals(to.node)) {
      return; // two names of one file: nothing happens
    }
    int replaced = to.node == null ? Operation.NO_NODE : to.node;
    image.unlink(from.parent, from.name);
    image.link(to.parent, to.name, from.node);
    operations.add(
        new Operation.Rename(
            origin(at), from.node, from.parent, from.name, to.parent, to.name, replaced));
  }

  private void linked(long at, int result) {
    String[] paths = text(at).split("\0", 2);
    if (result != 0) {
      return;
    }
    Entry from = entry(paths[0]);
    Entry to = entry(paths[1]);
    if (from != null && to != null && from.node != null) {
      image.link(to.parent, to.name, from.node);
      operations.add(new Operation.Link(origin(at), from.node, to.parent, to.name));
    }
  }

  private void unlinked(long at, int result) {
    if (result != 0) {
      return;
    }
    Entry entry = entry(text(at));
    if (entry != null && entry.node == null) {
      gaps.add("a file was deleted that the trace does not know: " + text(at));
    } else if (entry != null && entry.node != null) {
      image.unlink(entry.parent, entry.name);
      operations.add(new Operation.Delete(origin(at), entry.node, entry.parent, entry.name));
    }
  }

  private Origin origin(long at) {
    return origin(at, tape.getLong(at + 8));
  }

  private Origin origin(long at, long place) {
    return new Origin(
        place,
        tape.getLong(at + 16),
        threads.getOrDefault(tape.getInt(at + 24), "?"),
        stacks.getOrDefault(tape.getInt(at + 28), CallStack.UNKNOWN));
  }

  private byte[] data(long at) {
    return bytes(at + Tape.HEADER, tape.getInt(at + 80));
  }

  private String text(long at) {
    return new String(
        bytes(at + Tape.HEADER + tape.getInt(at + 80), tape.getInt(at + 84)),
        StandardCharsets.UTF_8);
  }

  private byte[] bytes(long at, int length) {
    byte[] bytes = new byte[length];
    MemorySegment.copy(tape.memory(), ValueLayout.JAVA_BYTE, at, bytes, 0, length);
    return bytes;
  }

  private static CallStack stack(String text) {
    return new CallStack(
        text.lines()
            .map(line -> line.split("\t", 4))
            .map(frame ->
                new StackTraceElement(
                    frame[0],
                    frame[1],
                    frame[2].equals("null") ? null : frame[2],
                    Integer.parseInt(frame[3])))
            .toList());
  }
}
