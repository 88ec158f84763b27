package org.revenantdb.chaos.recording;

import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.revenantdb.chaos.trace.CallStack;

/**
 * Takes call stacks. Equal ones are one object, so that a long trace has few of them.
 *
 * <p>Threads: any.
 */
final class CallStacks {

  private static final int DEPTH = 40;

  /** The JDK's file layer, between the program and the recorder. */
  private static final List<String> LAYERS =
      List.of("java.nio.", "sun.nio.", "java.io.", "jdk.internal.");

  /**
   * The recorder's classes, by name and not by package, because tests of this package are programs,
   * too.
   */
  private static final Set<String> OURS =
      Stream.of(
              CallStacks.class,
              NameOperations.class,
              Recorder.class,
              RecordingAsynchronousChannel.class,
              RecordingChannel.class,
              RecordingFileSystem.class,
              RecordingPath.class,
              RecordingProvider.class,
              StartScan.class)
          .map(Class::getName)
          .collect(Collectors.toUnmodifiableSet());

  private static final StackWalker WALKER = StackWalker.getInstance();

  /** The key of a frame, much cheaper to create than a {@link StackTraceElement}. */
  private record Frame(String type, String method, int index) {}

  private final ConcurrentMap<List<Frame>, CallStack> known = new ConcurrentHashMap<>();

  /** The stack of this call. */
  CallStack here() {
    List<StackFrame> frames =
        WALKER.walk(all -> all.filter(CallStacks::isProgram).limit(DEPTH).toList());
    List<Frame> key = new ArrayList<>(frames.size());
    for (StackFrame frame : frames) {
      key.add(new Frame(frame.getClassName(), frame.getMethodName(), frame.getByteCodeIndex()));
    }
    return known.computeIfAbsent(
        key, _ -> new CallStack(frames.stream().map(StackFrame::toStackTraceElement).toList()));
  }

  private static boolean isProgram(StackFrame frame) {
    String type = frame.getClassName();
    for (String layer : LAYERS) {
      if (type.startsWith(layer)) {
        return false;
      }
    }
    int nested = type.indexOf('$');
    return !OURS.contains(nested < 0 ? type : type.substring(0, nested));
  }
}
