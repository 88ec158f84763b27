package org.revenantdb.chaos.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;

/** What a failure tells to the person who has to find the line at fault. */
class StoryTest {

  /** A thread of its own writes, so that no operation has a line of the user on its stack. */
  private static final class Log implements AutoCloseable {

    private final Path file;
    private final ExecutorService writer =
        Executors.newSingleThreadExecutor(
            work -> Thread.ofPlatform().name("log writer").unstarted(work));

    Log(Path directory) {
      this.file = directory.resolve("log");
    }

    void put(String value) throws Exception {
      writer.submit(() -> write(value)).get();
    }

    private Path write(String value) throws IOException {
      return Files.writeString(
          file, value + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    @Override
    public void close() {
      writer.close();
    }
  }

  static final class NeverForces implements CrashSubject<Log> {

    @Override
    public Log open(Path dir) {
      return new Log(dir);
    }

    @Override
    public void work(Log store, Promises promises) throws Exception {
      for (int i = 0; i < 3; i++) {
        String value = promises.seed() + "." + i;
        promises.attempt("a", value);
        store.put(value);
        promises.durable("a", value);
      }
    }

    @Override
    public void check(Log store, Recovered recovered) {
      recovered.verify(key -> {
        try {
          String all = Files.exists(store.file) ? Files.readString(store.file, UTF_8) : "";
          return all.lines().reduce((first, second) -> second).orElse(null);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }
  }

  @Test
  void a_loss_tells_the_stack_of_the_thread_that_wrote_and_of_the_one_that_was_promised()
      throws IOException {
    Recording recording =
        new LifeRecorder<>(NeverForces::new, /* seed= */ 7, /* lives= */ 1, Duration.ofMinutes(1))
            .record();
    assertTrue(recording.usable(), recording.reason());
    PowerCutOptions options =
        PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, /* seed= */ 7)
            .withStates(50)
            .withWorkers(1);
    Outcome outcome =
        new PowerCutRun<>(NeverForces::new, recording, options, new SeenImages()).run();
    assertEquals(Verdict.LOST, outcome.verdict(), outcome::toString);
    String story = outcome.failures().getFirst().told();
    assertTrue(story.matches("(?s).*lost: \\w+ log.* by thread log writer\n.*"), story);
    assertTrue(story.contains("StoryTest$Log.write(StoryTest.java:"), story);
    assertTrue(
        story.matches("(?s).*the last promise before it, at \\d+: durable \"a\" by thread .*"),
        story);
    assertTrue(
        story.contains("\n    at org.revenantdb.chaos.run.StoryTest$NeverForces.work("), story);
    assertFalse(story.contains("PromiseLog"), story);
    assertFalse(story.contains("LifeRecorder"), story);
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file);
  }

  @Test
  void an_exception_is_told_from_the_call_of_the_program_on() throws IOException {
    Path missing = MemoryFileSystem.apart(new DiskImage()).root().resolve("missing");
    IOException thrown = assertThrows(IOException.class, () -> read(missing));
    String text = CallStack.text(thrown);
    assertTrue(
        text.matches(
            "(?s)[^\n]*NoSuchFileException: [^\n]*missing\n"
                + "    \\.\\.\\. \\d+ below the program\n"
                + "    at [^\n]*java.nio.file.Files.readString\\([^\n]*\n"
                + "    at [^\n]*StoryTest.read\\(.*"),
        text);
    String own = CallStack.text(new IllegalStateException("planted"));
    assertFalse(own.contains("below the program"), own);
  }
}
