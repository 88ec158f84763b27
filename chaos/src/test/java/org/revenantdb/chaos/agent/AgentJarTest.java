package org.revenantdb.chaos.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.chaos.crash.ForkedJvm;

/** The archive for {@code -javaagent:}. */
class AgentJarTest {

  /** An agent that changes nothing. */
  public static final class Agent {

    private static String seen = "no premain";

    private Agent() {}

    public static void premain(String options, Instrumentation instrumentation) {
      Shared.COUNT.addAndGet(7);
      seen = options + " " + instrumentation.isRetransformClassesSupported();
    }
  }

  /** A class for the boot loader. */
  public static final class Shared {

    public static final AtomicInteger COUNT = new AtomicInteger();

    private Shared() {}
  }

  /** Says what it sees of the agent. */
  public static final class Main {

    private Main() {}

    public static void main(String[] arguments) {
      ChildPipe pipe = ChildPipe.open();
      pipe.say(Agent.seen);
      pipe.say("loader " + Shared.class.getClassLoader() + ", count " + Shared.COUNT);
    }
  }

  private static List<String> linesOf(AgentJar jar, String options) {
    try (ForkedJvm child =
        ForkedJvm.of(Main.class).withCodeOf(Main.class).flags(jar.flag(options)).fork()) {
      List<String> lines = new ArrayList<>();
      for (String line; (line = child.readLine()) != null; ) {
        lines.add(line);
      }
      child.demandOrderlyEnd();
      lines.add("stderr: " + child.stderr());
      return lines;
    }
  }

  @Test
  void an_agent_runs_before_main_with_its_classes_on_the_boot_loader_and_without_a_warning(
      @TempDir Path scratch) throws IOException {
    Path directory = Files.createDirectory(scratch.resolve("with a blank, a % and a +"));
    AgentJar jar = AgentJar.write(directory, Agent.class, List.of(Shared.class));

    assertEquals(List.of("a=b,c true", "loader null, count 7", "stderr: "), linesOf(jar, "a=b,c"));
  }

  @Test
  void an_agent_without_classes_for_the_boot_loader_and_without_options_runs_too(
      @TempDir Path scratch) throws IOException {
    List<String> lines = linesOf(AgentJar.write(scratch, Agent.class, List.of()), "");

    assertEquals("null true", lines.getFirst());
    assertTrue(lines.get(1).startsWith("loader jdk.internal.loader.ClassLoaders$AppClassLoader"));
    assertEquals("stderr: ", lines.getLast());
  }

  @Test
  void a_path_that_the_flag_cannot_express_is_refused(@TempDir Path scratch) throws IOException {
    Path directory = Files.createDirectory(scratch.resolve("a=b"));

    assertThrows(
        IOException.class, () -> AgentJar.write(directory, Agent.class, List.of(Shared.class)));
  }
}
