package org.revenantdb.chaos.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.SplittableRandom;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.revenantdb.chaos.crash.Seeds;

/**
 * A test that forks many JVMs: a usual build draws some of those, {@code -Plong} runs all. {@code
 * -Drevenant.draw=SEED} draws the same again.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Drawn.Draw.class)
public @interface Drawn {

  /** One in so many runs, on average. */
  int oneIn();

  /** Decides. */
  final class Draw implements ExecutionCondition {
    private static final long SEED = Long.getLong("revenant.draw", Seeds.fresh());

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      int oneIn =
          AnnotationSupport.findAnnotation(context.getElement(), Drawn.class)
              .map(Drawn::oneIn)
              .orElse(1);
      // The last digit of a seed must not decide about all tests alike.
      long name = context.getUniqueId().hashCode();
      boolean drawn = new SplittableRandom(SEED ^ name << Integer.SIZE).nextInt(oneIn) == 0;
      return drawn || Boolean.getBoolean("revenant.long")
          ? ConditionEvaluationResult.enabled("drawn by -Drevenant.draw=" + SEED)
          : ConditionEvaluationResult.disabled("not drawn by -Drevenant.draw=" + SEED);
    }
  }
}
