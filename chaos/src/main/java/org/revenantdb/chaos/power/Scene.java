package org.revenantdb.chaos.power;

import java.util.BitSet;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.power.Losses.Loss;
import org.revenantdb.chaos.trace.Operation;

/**
 * The circumstances of a power cut, and their description.
 *
 * @param paths of all nodes
 * @param unit of the profile, in bytes
 * @param seq the crash point
 * @param last the last operation that had begun, or null
 * @param pending the number of operations that the disk could have lost
 */
record Scene(NodePaths paths, int unit, long seq, @Nullable Operation last, int pending) {

  /** The whole description, line by line. */
  String tell(Collection<Loss> losses) {
    StringBuilder text = new StringBuilder("power cut at place ").append(seq);
    text.append(last == null ? ", before everything" : ", the last to begin was " + name(last));
    text.append("; ").append(pending).append(" operations were not durable, ");
    text.append(losses.isEmpty() ? "all of them are there" : losses.size() + " are not whole");
    if (losses.isEmpty() && last != null) {
      // The failure is that nothing came after it.
      tell(text, "there, and nothing after it", last);
    }
    losses.forEach(loss -> tell(text, fate(loss.operation(), loss.parts()), loss.operation()));
    return text.toString();
  }

  private void tell(StringBuilder text, String fate, Operation operation) {
    text.append('\n').append(fate).append(": ").append(name(operation));
    String stack = operation.origin().stack().text();
    if (!stack.isEmpty()) {
      text.append('\n').append(stack);
    }
  }

  private String fate(Operation operation, @Nullable BitSet parts) {
    if (parts == null) {
      return "lost";
    }
    return switch (operation) {
      case Operation.Write write -> tornWrite(write, parts);
      case Operation.Truncate _ -> parts.get(0) ? "lost but for its zeros" : "its zeros lost";
      case Operation.Rename _ -> parts.get(0) ? "the old name not gone" : "the new name lost";
      default -> "lost";
    };
  }

  private String tornWrite(Operation.Write write, BitSet parts) {
    int units = (int) ((write.end() - 1) / unit - write.offset() / unit) + 1;
    int lost = parts.get(1, units + 1).cardinality();
    if (lost == 0) {
      return "its size lost";
    }
    if (lost == units) {
      return "lost but for its size";
    }
    return "torn, units "
        + parts.get(1, units + 1)
        + " of "
        + units
        + " lost"
        + (parts.get(0) ? " with the size" : "");
  }

  /** An operation in words. */
  private String name(Operation operation) {
    long at = operation.seq();
    String what =
        switch (operation) {
          case Operation.Create op ->
              "create " + (op.directory() ? "directory " : "") + paths.path(op.node(), at);
          case Operation.Link op -> "link " + paths.path(op.node(), at);
          case Operation.Delete op -> "delete " + entry(op.parent(), op.name(), at);
          case Operation.Rename op ->
              "rename "
                  + entry(op.fromParent(), op.fromName(), at)
                  + " to "
                  + entry(op.toParent(), op.toName(), at);
          case Operation.Write op ->
              "write " + paths.path(op.node(), at) + " " + op.offset() + "+" + op.data().length;
          case Operation.Truncate op ->
              "truncate " + paths.path(op.node(), at) + " to " + op.size();
          case Operation.Force op ->
              (op.isOfOneWrite() ? "force of one write of " : "force ") + paths.path(op.node(), at);
          case Operation.ForceFailed op -> "failed force " + paths.path(op.node(), at);
        };
    return what + " by thread " + operation.origin().thread();
  }

  private String entry(int parent, String name, long at) {
    return parent == DiskImage.ROOT ? name : paths.path(parent, at) + "/" + name;
  }
}
