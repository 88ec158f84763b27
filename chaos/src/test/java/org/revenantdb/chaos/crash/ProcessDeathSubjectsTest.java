package org.revenantdb.chaos.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/** Subjects that are at fault themselves are distinguished from broken stores. */
@Tag("slow")
class ProcessDeathSubjectsTest extends ProcessDeaths {

  static final class ThrowsInOpen extends LineSubject {
    @Override
    public LineStore open(Path dir) throws Exception {
      throw new IOException("planted");
    }
  }

  static final class HangsInWork extends LineSubject {
    @Override
    public void work(LineStore store, Promises promises) throws Exception {
      super.work(store, promises);
      new CountDownLatch(1).await();
    }
  }

  static final class ExitsInWork extends LineSubject {
    @Override
    public void work(LineStore store, Promises promises) throws Exception {
      super.work(store, promises);
      System.exit(7);
    }
  }

  static final class WritesBeside extends LineSubject {
    @Override
    public LineStore open(Path dir) throws Exception {
      Files.writeString(dir.resolveSibling("beside"), "x");
      return super.open(dir);
    }
  }

  /** Would never reach the count at which it is to be killed. */
  static final class FallsSilent extends LineSubject {
    @Override
    public void work(LineStore store, Promises promises) throws Exception {
      if (store.get("k1") == null) {
        super.work(store, promises);
      }
    }
  }

  /** Reports, but gives no answer that could be lost. */
  static final class OnlyAttempts extends LineSubject {
    @Override
    public void work(LineStore store, Promises promises) throws Exception {
      promises.attempt("a", "b");
      store.put("a", "b");
    }
  }

  /** Its check reads the store and ignores the result. */
  static final class SeesNothing extends LineSubject {
    @Override
    public void check(LineStore store, Recovered recovered) {
      try {
        recovered.verify(key -> {
          throw new IllegalStateException("planted");
        });
      } catch (IllegalStateException e) {
        // This is what is wrong with it.
      }
    }
  }

  /** Its files are right, but it accepts no new work. */
  static final class WorksOnce extends LineSubject {
    @Override
    public void resume(LineStore store, Promises promises) throws Exception {
      throw new IOException("no more");
    }
  }

  /** Gives the same answer about the same files only most of the time. */
  static final class Fickle extends LineSubject {
    private static int looks;

    @Override
    public void check(LineStore store, Recovered recovered) {
      super.check(store, recovered);
      recovered.demand(++looks % 4 != 0, "a bad mood");
    }
  }

  static final class ChecksNothing extends LineSubject {
    @Override
    public void check(LineStore store, Recovered recovered) {}
  }

  /** Cannot be created without an argument. */
  static final class Demanding extends LineSubject {
    @SuppressWarnings("unused") // only the parameter matters
    Demanding(String word) {}
  }

  /** Is configured by a system property of the JVM of the test. */
  static final class Configured extends LineSubject {
    static final String PROPERTY = "org.revenantdb.chaos.test.killed";
    static final String VALUE = " of = two:\n# lines, \u00e9\u20ac";

    @Override
    public LineStore open(Path dir) throws Exception {
      if (!VALUE.equals(System.getProperty(PROPERTY))) {
        throw new IOException("configured by " + System.getProperty(PROPERTY));
      }
      return super.open(dir);
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void a_process_that_is_killed_has_the_system_properties_of_the_test() {
    System.setProperty(Configured.PROPERTY, Configured.VALUE);
    try {
      Outcome outcome = run(Configured.class, options(1));
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome.reason());
    } finally {
      System.clearProperty(Configured.PROPERTY);
    }
  }

  @Test
  void subject_thatThrowsInItsFirstLife_isHarnessBroken() {
    assertHarnessBroken(ThrowsInOpen.class, "planted");
  }

  @Test
  @Drawn(oneIn = 2)
  void subject_thatHangsInItsFirstLife_isHarnessBroken() {
    String reason = "did not come to an end in work";
    Outcome outcome = run(HangsInWork.class, options(10).withStallLimit(IMPATIENT));
    assertEquals(Verdict.HARNESS_BROKEN, outcome.verdict(), outcome.reason());
    assertReason(reason, outcome);
  }

  @Test
  void subject_thatExits_isHarnessBroken() {
    assertHarnessBroken(ExitsInWork.class, "exit code 7 in work");
  }

  @Test
  void subject_thatWritesOutsideItsDirectory_isHarnessBroken() {
    assertHarnessBroken(WritesBeside.class, "[beside]");
  }

  @Test
  void subject_thatPromisesNothingAnyMore_isHarnessBroken() {
    assertHarnessBroken(FallsSilent.class, "promised nothing");
  }

  @Test
  void subject_thatChecksNothing_isHarnessBroken() {
    assertHarnessBroken(ChecksNothing.class, "verifies nothing");
  }

  /** Once accepted a subject that could not detect any loss. */
  @Test
  void subject_whoseCheckAcceptsAnEmptyDirectory_isHarnessBroken() {
    assertHarnessBroken(SeesNothing.class, "the subject's check accepts an empty directory");
  }

  /** Once accepted work that promised nothing that could be lost. */
  @Test
  void subject_thatOnlyAttempts_isHarnessBroken() {
    assertHarnessBroken(OnlyAttempts.class, "the subject's work promised nothing");
  }

  @Test
  void subject_thatAcceptsNoNewWorkOnAnIntactDisk_isHarnessBroken() {
    assertHarnessBroken(WorksOnce.class, "on an intact disk the subject threw in resume");
  }

  @Test
  void subject_thatIsNotDeterministicOnAnIntactDisk_isHarnessBroken() {
    assertHarnessBroken(
        Fickle.class, "does not hold on an intact disk: it found DEMAND: a bad mood");
  }

  @Test
  void subject_thatCannotBeMade_isHarnessBroken() {
    assertHarnessBroken(Demanding.class, "needs a constructor without parameters");
  }
}
