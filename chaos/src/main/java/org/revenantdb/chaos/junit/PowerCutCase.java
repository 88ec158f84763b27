package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.Seen;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;

/** Power cuts under one profile. */
final class PowerCutCase extends CrashTestCase {

  /** One state in this many comes from lives after the death of a process. */
  private static final int SHARE_OF_DEATHS = 4;

  private static final int DEATHS = 6;

  /** With fewer states than this, recording a death is not worth its time. */
  private static final int FEWEST = 25;

  private final CrashTestSettings settings;
  private final PlatformProfile profile;
  private final SharedRecording recording;

  PowerCutCase(
      Class<?> type,
      CrashTestSettings settings,
      PlatformProfile profile,
      SharedRecording recording) {
    super(type, Crash.POWER_CUT, settings.seed());
    this.settings = settings;
    this.profile = profile;
    this.recording = recording;
  }

  @Override
  public String name() {
    String depth = settings.depth() == 1 ? "" : ", depth " + settings.depth();
    return Crash.POWER_CUT + ", " + profile + depth;
  }

  @Override
  public String tries() {
    return profile.title()
        + switch (settings.depth()) {
          case 1 -> "";
          case 2 -> ", also during recovery";
          default -> ", also during two recoveries in a row";
        };
  }

  @Override
  Outcome measure() throws IOException {
    try {
      recording.subjects();
    } catch (IllegalArgumentException e) {
      return Outcome.of(name(), Verdict.HARNESS_BROKEN, String.valueOf(e.getMessage()));
    }
    PowerCutOptions options = settings.powerCut(profile).withKnown(known());
    int share = options.states() / SHARE_OF_DEATHS;
    List<Recording> deaths = recording.deaths(Math.min(DEATHS, share / FEWEST));
    if (deaths.isEmpty()) {
      Outcome outcome = run(recording.get(), options);
      return outcome.withSeen(seen());
    }
    PowerCutOptions ofDeath = options.withStates(share / deaths.size());
    PowerCutOptions others = options.withStates(options.states() - share);
    Duration budget = options.budget();
    if (budget != null) {
      Duration last = budget.dividedBy(SHARE_OF_DEATHS);
      ofDeath = ofDeath.withBudget(last.dividedBy(deaths.size()));
      others = others.withBudget(budget.minus(last));
    }
    List<Outcome> outcomes = new ArrayList<>();
    outcomes.add(run(recording.get(), others));
    for (Recording death : deaths) {
      outcomes.add(run(death, ofDeath));
    }
    return Outcome.sum(outcomes.getFirst().name(), outcomes).withSeen(seen());
  }

  private Seen seen() throws IOException {
    return recording.get().seen().with(recording.leaks());
  }

  @Override
  int repeated() throws IOException {
    return recording.get().promises().repeated();
  }

  /** Shares no images with other profiles: an image that failed there must fail here, too. */
  private Outcome run(Recording of, PowerCutOptions options) throws IOException {
    if (settings.isolated()) {
      return PowerCutRun.with(recording.workers(), of, options).run();
    }
    return new PowerCutRun<>(recording.subjects(), of, options, new SeenImages()).run();
  }
}
