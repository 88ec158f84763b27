package org.revenantdb.latch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Knows which processors share a third-level cache. Each such cache is a node; a socket can have
 * several.
 *
 * <p>A latch that is handed to a thread on the same node stays in that cache, together with its
 * data. A machine with one such cache, or with unknown caches, is <em>flat</em>: it has one node,
 * and there is nothing to prefer.
 *
 * <p>Immutable. Failure: no method throws. If the files cannot be read or contradict each other,
 * the topology is flat, because a guess would be worse than no preference.
 */
final class CacheTopology {
  /*
   * Source      Böttcher, "Scalable Concurrency Control", thesis 2023, section 3.4.3. The files are those of the
   *             Linux kernel, Documentation/ABI/testing/sysfs-devices-system-cpu:
   *
   *             cpu0/cache/index3/level             3
   *             cpu0/cache/index3/shared_cpu_list   0-3,8,10-11
   *
   *             The number in the name of an index is not the level; the level is in its file.
   *
   * Believed    only if every processor has exactly one list of level 3 and is in its own list, and if all processors
   *             in a list have the same list. So the topology is flat if a processor is offline (it has no lists),
   *             has no such cache (the low-power cores of some hybrids), or goes offline during the reading.
   *
   * Numbers     nodes are numbered by their lowest processor.
   */

  /** One node, to which every processor belongs. */
  static final CacheTopology FLAT = new CacheTopology(new int[0], 1);

  /** More than Linux supports. A greater number in a file is treated as damage. */
  private static final int MAX_PROCESSORS = 1 << 16;

  /** A list of every second processor would be longer, but no file of sysfs is. */
  private static final int MAX_FILE_BYTES = 1 << 16;

  private static final Pattern PROCESSOR = Pattern.compile("cpu([0-9]{1,9})");
  private static final Pattern INDEX = Pattern.compile("index[0-9]{1,9}");
  private static final Pattern RANGE = Pattern.compile("([0-9]{1,9})(?:-([0-9]{1,9}))?");

  /** By processor; -1 for a number that no processor has. Empty: all are of node 0. */
  private final int[] nodes;

  private final int nodeCount;

  private CacheTopology(int[] nodes, int nodeCount) {
    this.nodes = nodes;
    this.nodeCount = nodeCount;
  }

  /** This machine's topology, as it was when it was first asked for. */
  static CacheTopology detect() {
    return Detected.TOPOLOGY;
  }

  /**
   * Reads a topology.
   *
   * @param root a directory like {@code /sys/devices/system/cpu}
   */
  static CacheTopology parse(Path root) {
    try {
      return of(readLists(root));
    } catch (IOException | RuntimeException | VirtualMachineError e) {
      // DirectoryIteratorException is a RuntimeException. Files that contradict each other are
      // reported by IOException.
      return FLAT;
    }
  }

  /** How many nodes there are, from 1. */
  int nodes() {
    return nodeCount;
  }

  /**
   * The node of a processor.
   *
   * @param processor as the operating system numbers them
   * @return from 0 to {@code nodes() - 1}; -1 if there is no such processor
   */
  int nodeOf(int processor) {
    if (processor < 0) {
      return -1;
    }
    if (nodes.length == 0) {
      return 0;
    }
    return processor < nodes.length ? nodes[processor] : -1;
  }

  @Override
  public String toString() {
    if (nodeCount == 1) {
      return "CacheTopology[flat]";
    }
    StringBuilder text = new StringBuilder("CacheTopology[");
    for (int node = 0; node < nodeCount; node++) {
      text.append(node == 0 ? "" : ", ").append(node).append(':');
      for (int processor = 0; processor < nodes.length; processor++) {
        if (nodes[processor] == node) {
          text.append(' ').append(processor);
        }
      }
    }
    return text.append(']').toString();
  }

  private static CacheTopology of(Map<Integer, BitSet> lists) throws IOException {
    if (lists.isEmpty()) {
      return FLAT;
    }
    int[] nodes = new int[1 + Collections.max(lists.keySet())];
    Arrays.fill(nodes, -1);
    int count = 0;
    for (Map.Entry<Integer, BitSet> entry : lists.entrySet()) {
      int processor = entry.getKey();
      BitSet list = entry.getValue();
      if (!list.get(processor)) {
        throw new IOException("processor " + processor + " is not in its own list " + list);
      }
      for (int other = list.nextSetBit(0); other >= 0; other = list.nextSetBit(other + 1)) {
        if (!list.equals(lists.get(other))) {
          throw new IOException("processors " + processor + " and " + other + " disagree");
        }
      }
      nodes[processor] = list.nextSetBit(0) == processor ? count++ : nodes[list.nextSetBit(0)];
    }
    return count == 1 ? FLAT : new CacheTopology(nodes, count);
  }

  /** By processor, in ascending order: the processors that share its cache of level 3. */
  private static Map<Integer, BitSet> readLists(Path root) throws IOException {
    Map<Integer, BitSet> lists = new TreeMap<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
      for (Path entry : entries) {
        var name = PROCESSOR.matcher(nameOf(entry));
        if (name.matches()) {
          lists.put(numberOf(name.group(1)), readList(entry.resolve("cache")));
        }
      }
    }
    return lists;
  }

  private static BitSet readList(Path caches) throws IOException {
    List<BitSet> lists = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(caches)) {
      for (Path entry : entries) {
        if (INDEX.matcher(nameOf(entry)).matches() && read(entry.resolve("level")).equals("3")) {
          lists.add(parseList(read(entry.resolve("shared_cpu_list"))));
        }
      }
    }
    if (lists.size() != 1) {
      throw new IOException(lists.size() + " caches of level 3 in " + caches);
    }
    return lists.getFirst();
  }

  /** Parses a list such as {@code 0-3,8,10-11}. */
  static BitSet parseList(String text) throws IOException {
    BitSet list = new BitSet();
    for (String part : text.split(",", -1)) {
      var range = RANGE.matcher(part);
      if (!range.matches()) {
        throw new IOException("no list of processors: " + text);
      }
      int first = numberOf(range.group(1));
      @Nullable String upTo = range.group(2);
      int last = upTo == null ? first : numberOf(upTo);
      if (last < first || list.get(first, last + 1).cardinality() != 0) {
        throw new IOException("backwards, or twice the same: " + text);
      }
      list.set(first, last + 1);
    }
    return list;
  }

  private static int numberOf(String digits) throws IOException {
    int number = Integer.parseInt(digits);
    if (number >= MAX_PROCESSORS) {
      throw new IOException("no number of a processor: " + digits);
    }
    return number;
  }

  private static String read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_FILE_BYTES);
      if (bytes.length == MAX_FILE_BYTES) {
        throw new IOException("too long: " + file);
      }
      return new String(bytes, StandardCharsets.ISO_8859_1).strip();
    }
  }

  private static String nameOf(Path entry) {
    return String.valueOf(entry.getFileName());
  }

  /** Reads the files when the topology is first asked for, not before. */
  private static final class Detected {
    static final CacheTopology TOPOLOGY = parse(Path.of("/sys/devices/system/cpu"));
  }
}
