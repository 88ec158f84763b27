package org.revenantdb.suite.examples;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.engine.TransactionOptions;

/** The long form of {@link QueueTest}. */
@Tag("slow")
@EnabledIfSystemProperty(named = "revenant.long", matches = "true")
@CrashTest(
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    states = 150,
    kills = 1,
    seed = QueueTest.SEED)
class QueueLongTest extends QueueSubject {

  QueueLongTest() {
    super(TransactionOptions.durable());
  }
}
