/**
 * What platforms may do to file operations that were not forced.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.profile.PlatformProfile} (the names that a crash
 * test chooses from), {@link org.revenantdb.chaos.profile.DiskRules} (what each of them means).
 */
package org.revenantdb.chaos.profile;
