package org.revenantdb.chaos.power;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * The path of a node at a place of the trace, for reports: the last name that it had before, even
 * if that was deleted.
 *
 * <p>Threads: any; it is immutable.
 */
public final class NodePaths {

  private record Name(int parent, String name) {}

  private static final int DEEPEST = 64;

  private final Map<Integer, TreeMap<Long, Name>> names = new HashMap<>();

  /**
   * Reads all names of a trace.
   *
   * @param trace the trace
   */
  public NodePaths(Trace trace) {
    enter(trace.start(), DiskImage.ROOT);
    for (Operation operation : trace.operations()) {
      switch (operation) {
        case Operation.Create op -> name(op.node(), op.seq(), op.parent(), op.name());
        case Operation.Link op -> name(op.node(), op.seq(), op.parent(), op.name());
        case Operation.Rename op -> name(op.node(), op.seq(), op.toParent(), op.toName());
        case Operation.Delete _,
            Operation.Write _,
            Operation.Truncate _,
            Operation.Force _,
            Operation.ForceFailed _ -> {}
      }
    }
  }

  private void enter(DiskImage image, int directory) {
    for (Map.Entry<String, Integer> entry : image.entries(directory).entrySet()) {
      name(entry.getValue(), Long.MIN_VALUE, directory, entry.getKey());
      if (image.isDirectory(entry.getValue())) {
        enter(image, entry.getValue());
      }
    }
  }

  private void name(int node, long seq, int parent, String name) {
    names.computeIfAbsent(node, _ -> new TreeMap<>()).put(seq, new Name(parent, name));
  }

  /**
   * Returns the path of a node at a place.
   *
   * @param node the node
   * @param seq the place
   * @return with {@code /} between names; {@code .} for the root
   */
  public String path(int node, long seq) {
    String path = "";
    int at = node;
    for (int depth = 0; at != DiskImage.ROOT && depth < DEEPEST; depth++) {
      Name name = last(at, seq);
      if (name == null) {
        return "node " + at + (path.isEmpty() ? "" : "/" + path);
      }
      path = path.isEmpty() ? name.name : name.name + "/" + path;
      at = name.parent;
    }
    return path.isEmpty() ? "." : path;
  }

  private @Nullable Name last(int node, long seq) {
    TreeMap<Long, Name> history = names.get(node);
    if (history == null) {
      return null;
    }
    Map.Entry<Long, Name> entry = history.floorEntry(seq);
    return entry == null ? null : entry.getValue();
  }
}
