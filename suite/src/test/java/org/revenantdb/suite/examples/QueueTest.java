package org.revenantdb.suite.examples;

import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.testing.Drawn;

/**
 * The queue of {@link QueueSubject} after kills and power cuts, and a careless variant that must
 * fail.
 */
@Tag("slow")
@CrashTest(
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    states = 50,
    kills = 1,
    seed = QueueTest.SEED)
@Drawn(oneIn = 2)
class QueueTest extends QueueSubject {

  static final long SEED = 20_261_122;

  QueueTest() {
    super(TransactionOptions.durable());
  }

  /** Self-test: a client that acts on lazy reads is found. */
  @Test
  void a_client_that_acts_on_lazy_reads_is_found() throws IOException {
    TransactionOptions careless = TransactionOptions.lazy();
    Recording recording =
        new LifeRecorder<QueueSubject.Books>(
                () -> new QueueSubject(careless), SEED, 1, Duration.ofSeconds(60))
            .record();
    assertTrue(recording.usable(), recording.reason());
    PowerCutOptions options =
        PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, SEED).withStates(100);
    Outcome outcome =
        new PowerCutRun<QueueSubject.Books>(
                () -> new QueueSubject(careless), recording, options, new SeenImages())
            .run();
    assertNotEquals(Verdict.SURVIVED, outcome.verdict(), "nobody noticed");
    assertTrue(outcome.reason().contains("whose cause the bank has lost"), outcome.reason());
  }
}
