package org.revenantdb.chaos.run;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.trace.CallStack;

/**
 * Turns the end of the JVM while a subject runs into a failure, because a subject that calls {@code
 * System.exit(0)} must not make a run pass.
 *
 * <p>Its message goes to the file descriptor of the standard error, because test runners replace
 * {@code System.err}. It also goes to a file, because a runner may not show the standard error.
 * ({@code Runtime.halt} runs no hook, so it cannot be reported.)
 */
public final class ExitGuard implements AutoCloseable {

  private static final int HARNESS_BROKEN = 70;
  private static final String FILE = "EXIT.txt";
  private static final String CURE =
      "with @CrashTest(isolated = true) the end of a JVM is a failure of the image that it opened\n";

  private static volatile @Nullable Path directory;

  private final Thread hook;

  private ExitGuard(Thread hook) {
    this.hook = hook;
  }

  /**
   * Sets the directory of the file {@code EXIT.txt}, which contains the reason why a JVM ended.
   *
   * @param target a directory, created if needed
   */
  public static void tellIn(Path target) {
    directory = target;
  }

  /**
   * Begins to guard.
   *
   * @param doing returns what the subject is doing
   * @return the guard
   */
  @SuppressWarnings(
      "SystemExitOutsideMain") // the JVM is ending already; only its exit code changes
  static ExitGuard on(Supplier<String> doing) {
    Thread hook =
        new Thread(
            () -> {
              tell(doing.get());
              if (exits().isEmpty()) {
                Scratch.end(); // nothing runs after the halt
              }
              Runtime.getRuntime().halt(HARNESS_BROKEN);
            },
            "exit guard");
    Runtime.getRuntime().addShutdownHook(hook);
    return new ExitGuard(hook);
  }

  private static void tell(String doing) {
    String text = "HARNESS_BROKEN: " + how(doing) + "\n" + CURE;
    Path target = directory;
    try {
      if (target != null) {
        Files.createDirectories(target);
        Files.writeString(target.resolve(FILE), Instant.now() + "\n" + text);
        text += "this is also in " + target.resolve(FILE) + "\n";
      }
      @SuppressWarnings("resource") // it is the process's own
      FileOutputStream error = new FileOutputStream(FileDescriptor.err);
      error.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      // The JVM is ending, and there is no other place for the message.
    }
  }

  /** Who ends this JVM; for a thread that runs when it ends. */
  static String how(String doing) {
    return "the JVM was ended during \"" + doing + "\", " + by(exits());
  }

  private static String by(List<StackTraceElement> caller) {
    return caller.isEmpty()
        ? "from outside"
        : "by the subject, at\n" + new CallStack(caller).text();
  }

  /** The stack of the thread that waits in {@code System.exit} for the hooks. */
  private static List<StackTraceElement> exits() {
    return Thread.getAllStackTraces().values().stream()
        .filter(stack -> Stream.of(stack).anyMatch(ExitGuard::isExit))
        .findFirst()
        .map(stack ->
            Arrays.stream(stack).dropWhile(frame -> isOfTheJdk(frame.getClassName())).toList())
        .orElse(List.of());
  }

  private static boolean isExit(StackTraceElement frame) {
    return frame.getClassName().equals(Runtime.class.getName())
        && frame.getMethodName().equals("exit");
  }

  private static boolean isOfTheJdk(String className) {
    return className.startsWith("java.");
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The JVM is ending: the hook reports the reason.
    }
  }
}
