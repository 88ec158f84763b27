package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.chaos.power.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.Crash;

/** Power cuts under one profile. */
final class PowerCutCase extends CrashTestCase {

  /** One state in so many comes from lives behind the death of a process. */
  private static final int SHARE_OF_DEATHS = 4;

  private static final int DEATHS = 6;

  /** States that make recording a death worth its time. */
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
    return "%s, %s, %d states".formatted(Crash.POWER_CUT, profile, settings.states());
  }

  @Override
  Outcome measure() throws IOException {
    PowerCutOptions options = settings.powerCut(profile);
    int share = options.states() / SHARE_OF_DEATHS;
    List<Recording> deaths = recording.deaths(Math.min(DEATHS, share / FEWEST));
    if (deaths.isEmpty()) {
      return run(recording.get(), options);
    }
    List<Outcome> outcomes = new ArrayList<>();
    outcomes.add(run(recording.get(), options.withStates(options.states() - share)));
    for (Recording death : deaths) {
      outcomes.add(run(death, options.withStates(share / deaths.size())));
    }
    return Outcome.sum(outcomes.getFirst().name(), outcomes);
  }

  /** Images are not shared with other profiles: one that failed there must fail here, too. */
  private Outcome run(Recording of, PowerCutOptions options) {
    return new PowerCutRun<>(recording.subjects(), of, options, new SeenImages()).run();
  }
}
