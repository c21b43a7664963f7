"""Machine checks of the theorems that accounting rests on."""
