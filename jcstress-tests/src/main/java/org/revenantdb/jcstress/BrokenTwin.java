package org.revenantdb.jcstress;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A jcstress test that is a weakened copy of the claim beside it and must show what the claim
 * forbids.
 *
 * <p>A claim that holds proves little until the same test, with one ordering taken away, is seen to
 * fail: only then could the test have noticed. The twin declares the bad outcome as {@code
 * ACCEPTABLE_INTERESTING}, so that jcstress itself stays green; {@code ProtocolsTest} fails where
 * the outcome does not show up.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface BrokenTwin {

  /**
   * Returns whether the test fails where the bad outcome was not seen.
   *
   * @return false, with the reason in a comment, where this processor never shows it (x86 does not
   *     reorder two stores, for instance) and only the compiler might
   */
  boolean mustShow() default true;
}
