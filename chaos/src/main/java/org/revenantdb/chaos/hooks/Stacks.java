package org.revenantdb.chaos.hooks;

import java.lang.StackWalker.StackFrame;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Call stacks as numbers. The text of a stack is on the tape once, before its number is used.
 *
 * <p>Threads: any. If a stack cannot be taken, it is unknown: number 0.
 */
final class Stacks {

  private static final int DEPTH = 60;
  private static final int TABLE = 1 << 15;

  /** The classes of the recorders that are on the stack when it is taken. */
  private static final Set<String> OURS =
      Set.of(
          "org.revenantdb.chaos.agent.Bridge",
          "org.revenantdb.chaos.hooks.AgentCalls",
          "org.revenantdb.chaos.hooks.AgentFiles",
          "org.revenantdb.chaos.hooks.CallOrder",
          "org.revenantdb.chaos.hooks.Hooks",
          "org.revenantdb.chaos.hooks.Stacks");

  private static final StackWalker WALKER = StackWalker.getInstance();

  private final Journal journal;
  private final long[] hashes = new long[TABLE];
  private final int[] numbers = new int[TABLE];
  private final int sign;
  private int last;

  /** Begins at 1. */
  Stacks(Journal journal) {
    this(journal, 1);
  }

  /** Numbers from {@code sign} upwards or downwards, so that two of them share one tape. */
  Stacks(Journal journal, int sign) {
    this.journal = journal;
    this.sign = sign;
  }

  /** The number of the present stack. */
  int here() {
    try {
      return WALKER.walk(all -> number(all.filter(Stacks::isProgram).limit(DEPTH).toList()));
    } catch (StackOverflowError | OutOfMemoryError e) {
      return 0;
    }
  }

  private synchronized int number(List<StackFrame> frames) {
    long hash = 1;
    for (StackFrame frame : frames) {
      hash = hash * 31 + frame.getClassName().hashCode();
      hash = hash * 31 + frame.getMethodName().hashCode();
      hash = hash * 31 + frame.getByteCodeIndex();
      hash ^= hash >>> 29;
    }
    hash |= 1;
    int at = (int) (hash >>> 8) & (TABLE - 1);
    for (int tries = 0; tries < TABLE; tries++, at = (at + 1) & (TABLE - 1)) {
      if (hashes[at] == hash) {
        return numbers[at];
      }
      if (hashes[at] == 0) {
        int number = last + sign;
        if (journal.note(Tape.STACK, number, text(frames))) {
          last = number;
          hashes[at] = hash;
          numbers[at] = number;
          return number;
        }
        return 0;
      }
    }
    return 0;
  }

  private static byte[] text(List<StackFrame> frames) {
    StringBuilder text = new StringBuilder();
    for (StackFrame frame : frames) {
      text.append(frame.getClassName())
          .append('\t')
          .append(frame.getMethodName())
          .append('\t')
          .append(frame.getFileName())
          .append('\t')
          .append(frame.getLineNumber())
          .append('\n');
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static boolean isProgram(StackFrame frame) {
    String type = frame.getClassName();
    return !type.startsWith("java.lang.invoke.")
        && !type.startsWith("java.lang.foreign.")
        && !type.startsWith("jdk.internal.")
        && !type.startsWith("java.nio.")
        && !type.startsWith("java.io.")
        && !type.startsWith("sun.nio.")
        && !OURS.contains(type);
  }

  /** Forgets all stacks, because the tape begins anew. */
  synchronized void reset() {
    Arrays.fill(hashes, 0);
    last = 0;
  }
}
