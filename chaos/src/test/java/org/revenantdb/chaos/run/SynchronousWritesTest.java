package org.revenantdb.chaos.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;

/** A write through a channel opened with {@code DSYNC} is durable; an earlier write is not. */
class SynchronousWritesTest {

  private static final int PAGE = 4096;
  private static final int PAGES = 16;

  /** Two keys in a file, each in its own pages; one of them is written synchronously. */
  private abstract static class TwoChannels implements CrashSubject<Path> {

    @Override
    public Path open(Path dir) {
      return dir.resolve("f");
    }

    @Override
    public void work(Path file, Promises promises) throws IOException {
      try (FileChannel plain =
              FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileChannel through =
              FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.DSYNC);
          FileChannel names = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
        names.force(true);
        for (int page = 0; page < PAGES; page += 2) {
          String value = promises.seed() + "." + page + ";";
          promises.attempt("a" + page, value);
          promises.attempt("b" + page, value);
          plain.write(ByteBuffer.wrap(value.getBytes(UTF_8)), (long) page * PAGE);
          between(plain);
          through.write(ByteBuffer.wrap(value.getBytes(UTF_8)), (page + 1L) * PAGE);
          promises.durable("b" + page, value);
          if (promisesBoth()) {
            promises.durable("a" + page, value);
          }
        }
      }
    }

    void between(FileChannel plain) throws IOException {}

    boolean promisesBoth() {
      return true;
    }

    @Override
    public void check(Path file, Recovered recovered) {
      recovered.verify(key -> {
        try {
          int page = Integer.parseInt(key.substring(1)) + (key.startsWith("a") ? 0 : 1);
          return value(file, page);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }

    private static @Nullable String value(Path file, int page) throws IOException {
      byte[] all = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
      int from = page * PAGE;
      int end = from;
      while (end < all.length && all[end] != 0 && all[end] != ';') {
        end++;
      }
      boolean whole = end < all.length && all[end] == ';';
      return whole ? new String(all, from, end + 1 - from, UTF_8) : null;
    }
  }

  /** Treats a synchronous write as a force of the file. */
  static final class Trusting extends TwoChannels {}

  /** Forces what it promises. */
  static final class Forcing extends TwoChannels {
    @Override
    void between(FileChannel plain) throws IOException {
      plain.force(false);
    }
  }

  /** Promises only synchronous writes. */
  static final class Modest extends TwoChannels {
    @Override
    boolean promisesBoth() {
      return false;
    }
  }

  private static Outcome run(Supplier<CrashSubject<Path>> subjects, PlatformProfile profile)
      throws IOException {
    Recording recording =
        new LifeRecorder<>(subjects, /* seed= */ 1, /* lives= */ 2, Duration.ofMinutes(1)).record();
    assertTrue(recording.usable(), recording.reason());
    PowerCutOptions options = PowerCutOptions.of(profile, 1).withStates(300).withWorkers(1);
    return new PowerCutRun<>(subjects, recording, options, new SeenImages()).run();
  }

  @ParameterizedTest
  @EnumSource(PlatformProfile.class)
  void write_beforeASynchronousOneOfTheSameFile_isNotDurable(PlatformProfile profile)
      throws IOException {
    Outcome outcome = run(Trusting::new, profile);
    assertEquals(Verdict.LOST, outcome.verdict(), outcome::toString);
    String story = outcome.failures().getFirst().story();
    assertTrue(story.contains(": write f "), story);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SECTOR_GARBAGE") // it overwrites in place
  void write_thatWasForced_isDurable(PlatformProfile profile) throws IOException {
    Outcome outcome = run(Forcing::new, profile);
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SECTOR_GARBAGE") // it overwrites in place
  void synchronousWrite_canBeReadWhateverElseIsLost(PlatformProfile profile) throws IOException {
    Outcome outcome = run(Modest::new, profile);
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
  }
}
