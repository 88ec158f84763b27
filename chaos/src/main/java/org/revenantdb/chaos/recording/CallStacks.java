package org.revenantdb.chaos.recording;

import java.lang.StackWalker.StackFrame;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.KnownStacks;

/**
 * Takes the call stacks of operations, without the layers between the program and the recorder.
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
              KnownStacks.class,
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

  private final KnownStacks known = new KnownStacks();

  /** The stack of this call. */
  CallStack here() {
    return known.here(CallStacks::isProgram, DEPTH);
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
